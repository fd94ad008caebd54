# The flake with its stand-ins: its outputs, and home-manager's answer to what somebody wrote.
let
  nixpkgs = import ./nixpkgs.nix;
  self = (import ../../../flake.nix).outputs { inherit self nixpkgs; };
in
{
  outputs = self;

  home = { system ? "x86_64-linux", given ? { } }:
    nixpkgs.lib.evaluate {
      module = self.homeManagerModules.default;
      pkgs = nixpkgs.legacyPackages.${system};
      given.services.vault-index = given;
      around = {
        xdg.dataHome = "/home/anna/.local/share";
        home.homeDirectory = "/home/anna";
      };
    };
}
