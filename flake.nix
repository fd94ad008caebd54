{
  description = "Keeps markdown searchable: a daemon, a derived SQLite index and hybrid recall";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system} self.packages.${system});
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = nixpkgs.legacyPackages.${system}.python3Packages.callPackage ./nix/package.nix { };
      });

      apps = forEach (
        pkgs: packages: {
          default = {
            type = "app";
            program = "${packages.default}/bin/vault-index";
          };
        }
      );

      devShells = forEach (pkgs: packages: { default = pkgs.callPackage ./nix/shell.nix { vault-index = packages.default; }; });

      checks = forEach (
        pkgs: packages: {
          package = packages.default;
          tests = pkgs.callPackage ./nix/tests.nix { vault-index = packages.default; };
        }
      );

      homeManagerModules.default = import ./nix/home-manager.nix { packages = self.packages; };
    };
}
