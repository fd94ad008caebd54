# For work on the program: what it needs, and what `make test` needs.
{
  mkShell,
  python3,
  ruff,
  vault-index,
}:
mkShell {
  inputsFrom = [ vault-index ];
  packages = [
    ruff
    (python3.withPackages (packages: with packages; [
      hypothesis
      import-linter
      mypy
      prompt-toolkit
      psycopg
      pytest
      pytest-xdist
      types-pyyaml
    ]))
  ];
  shellHook = "export PYTHONPATH=$PWD\${PYTHONPATH:+:$PYTHONPATH}";
}
