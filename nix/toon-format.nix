{ buildPythonPackage, fetchPypi }:
buildPythonPackage rec {
  pname = "toon-format";
  version = "1.2.0";
  format = "wheel";
  src = fetchPypi {
    pname = "toon_format";
    inherit version format;
    dist = "py3";
    python = "py3";
    hash = "sha256-2U20sIiigae7yF511/vSTmoOx7wRDtsSkoUlnsplIsA=";
  };
  pythonImportsCheck = [ "toon_format" ];
}
