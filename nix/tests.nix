# The tests, with the dependencies as nixpkgs has them.
{ python3Packages, vault-index }:
vault-index.overridePythonAttrs (earlier: {
  pname = "vault-index-tests";
  doCheck = true;
  nativeCheckInputs = [ python3Packages.pytestCheckHook python3Packages.hypothesis ];
  preCheck = "export HOME=$TMPDIR";
})
