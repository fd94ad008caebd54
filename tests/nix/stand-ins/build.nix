# The package of the flake, really built by Nix: what nixpkgs would bring (Python, the build backend, the dependencies)
# is taken from two virtual environments, since nixpkgs is not to be had without a network.
{ source, build, run }:
let
  lib = import ./lib.nix;
  told = import ../../../nix/package.nix {
    inherit lib;
    # Any dependency: its name is read from pyproject.toml, and the environment has it.
    python.pkgs = lib.genAttrs (map (one: builtins.head (builtins.match "([A-Za-z0-9._-]+).*" one))
      (builtins.fromTOML (builtins.readFile ../../../pyproject.toml)).project.dependencies) (name: name);
    buildPythonApplication = made: made;
    callPackage = _: _: null;
    hatchling = null;
  };
in
derivation {
  name = "${told.pname}-${told.version}";
  system = builtins.currentSystem;
  src = builtins.fetchGit { url = source; shallow = true; }; # as a flake sees it: what git knows, and nothing else
  builder = "/bin/sh";
  PATH = "/usr/bin:/bin";
  args = [
    "-euc"
    ''
      export HOME="$TMPDIR"
      cp -r "$src" source && chmod -R u+w source && cd source
      ${build}/bin/python -m hatchling build -t wheel -d dist
      ${run}/bin/python -m pip install --quiet --no-deps --no-index --ignore-installed --prefix "$out" dist/*.whl
      ${told.postInstall}
      cd "$HOME"
      site=$(echo "$out"/lib/python*/site-packages)
      for module in ${toString told.pythonImportsCheck}; do
        PYTHONPATH="$site" ${run}/bin/python -c "import $module; assert $module.__file__.startswith('$site')"
      done
      PYTHONPATH="$site" "$out/bin/${told.meta.mainProgram}" --version
    ''
  ];
}
