# As much of nixpkgs as the flake uses. A package is its name and what it was made of; nothing is built.
let
  lib = import ./lib.nix;
  call = known: path: given:
    let
      make = import path;
      asked = builtins.functionArgs make;
    in
    make (builtins.intersectAttrs asked known // given);
  package = told: { type = "derivation"; outPath = "/nix/store/0-${told.pname or told.name or "shell"}"; inherit told; }
    // { overridePythonAttrs = change: package (told // change told); };
  # What nixpkgs was seen to have; a new dependency is looked up there before it is added here.
  names = [
    "apsw" "google-re2" "markdown-it-py" "mcp" "numpy" "onnxruntime" "openai" "pytestCheckHook" "python-frontmatter" "pyyaml" "rapidfuzz"
    "rich" "shtab" "sqlite-vec" "tenacity" "tiktoken" "tomlkit" "watchdog" "hatchling" "hypothesis" "import-linter" "mypy" "prompt-toolkit" "psycopg" "pytest" "pytest-xdist"
    "types-pyyaml"
  ];
  packagesOf = system: rec {
    inherit lib;
    stdenv.hostPlatform = {
      inherit system;
      isLinux = builtins.match ".*-linux" system != null;
      isDarwin = builtins.match ".*-darwin" system != null;
    };
    python3Packages = lib.genAttrs names (name: package { inherit name; }) // {
      callPackage = call (python3Packages // { inherit lib; python.pkgs = python3Packages; });
      buildPythonApplication = package;
      buildPythonPackage = package;
      fetchPypi = source: "pypi:${source.pname}-${source.version}";
    };
    python3.withPackages = choose: package { name = "python3"; packages = choose python3Packages; };
    ruff = package { name = "ruff"; };
    mkShell = package;
    callPackage = call { inherit lib python3Packages python3 ruff mkShell stdenv; };
    formats.toml = { }: {
      type = { name = "TOML value"; check = builtins.isAttrs; };
      generate = name: value: { outPath = "/nix/store/0-${name}"; inherit value; };
    };
  };
in
{
  inherit lib;
  legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] packagesOf;
}
