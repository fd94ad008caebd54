# The program for `nix run`. What it needs is read from pyproject.toml, so that the two cannot differ; what nixpkgs lacks
# is taken from PyPI.
{
  lib,
  python,
  buildPythonApplication,
  callPackage,
  hatchling,
}:
let
  project = (builtins.fromTOML (builtins.readFile ../pyproject.toml)).project;
  version = builtins.head (builtins.match ".*__version__ = \"([^\"]+)\".*" (builtins.readFile ../vault_index/version.py));
  nameOf = requirement: builtins.head (builtins.match "([A-Za-z0-9._-]+).*" requirement);
  lacking = {
    toon-format = callPackage ./toon-format.nix { };
  };
in
buildPythonApplication {
  pname = project.name;
  inherit version;
  pyproject = true;
  src = lib.cleanSource ../.;
  build-system = [ hatchling ];
  dependencies = map (requirement: (lacking // python.pkgs).${nameOf requirement}) project.dependencies;
  pythonImportsCheck = [ "vault_index.api" "vault_index.daemon.run" "vault_index.embeddings.inference" ];
  # The tests are a check of the flake: who installs the program need not run them.
  doCheck = false;
  postInstall = "install -Dm644 systemd/* -t $out/share/vault-index/systemd";
  meta = {
    description = project.description;
    license = lib.licenses.mit;
    mainProgram = "vault-index";
    platforms = lib.platforms.linux ++ lib.platforms.darwin;
  };
}
