"""The memory tools for any MCP client, on stdio or by way of `serve`; the daemon does the work where one runs."""

from types import ModuleType


def server_alone() -> ModuleType:
    """The module `stdio`, in a process that is to be nothing else, a third faster than a plain import.

    The packages of the SDK import all that is in them, as its client; here they stand empty, and only their modules
    are imported. The models of the protocol are made ready when they are first used, not all at once, and no installed
    package is asked for a plugin to do so. And many objects are made and few freed: nothing is collected meanwhile.
    """
    import gc
    import importlib
    import importlib.util
    import os
    import sys

    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import pydantic

    for name in ("mcp", "mcp.server"):
        spec = importlib.util.find_spec(name)
        assert spec
        sys.modules[name] = importlib.util.module_from_spec(spec)
    pydantic.BaseModel.model_config["defer_build"] = True
    module = f"{__name__}.stdio"
    try:
        return importlib.import_module(module)
    except (ImportError, AttributeError):  # a later version of the SDK needs its packages whole
        for name in [name for name in sys.modules if name.startswith((f"{__name__}.", "mcp.")) or name == "mcp"]:
            del sys.modules[name]
        return importlib.import_module(module)
    finally:
        del pydantic.BaseModel.model_config["defer_build"]
        gc.enable()
