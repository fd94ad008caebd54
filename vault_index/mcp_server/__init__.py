"""The memory tools for MCP clients, on stdio or through `serve`.

The daemon does the work if it runs.
"""

from types import ModuleType


def server_alone() -> ModuleType:
    """Import and return the module `stdio`, a third faster, in a process for it alone.

    The packages of the SDK import everything in their `__init__`, such as the client. So empty
    packages replace them, and only the needed modules are imported. Pydantic models are built on
    first use and without plugins. Garbage collection is off meanwhile, because imports free little.
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
    except (ImportError, AttributeError):  # a later SDK version needs its complete packages
        for name in [
            name
            for name in sys.modules
            if name.startswith((f"{__name__}.", "mcp.")) or name == "mcp"
        ]:
            del sys.modules[name]
        return importlib.import_module(module)
    finally:
        del pydantic.BaseModel.model_config["defer_build"]
        gc.enable()
