# home-manager: `services.vault-index`. What systemd is told is read from the same file as `vault-index service install`.
{ packages }:
{ config, lib, pkgs, ... }:
let
  inherit (lib) types mkIf mkMerge mkOption;
  cfg = config.services.vault-index;
  toml = pkgs.formats.toml { };
  facts = builtins.fromTOML (builtins.readFile ../vault_index/service/unit.toml);
  program = "${cfg.package}/bin/vault-index";

  settings = lib.recursiveUpdate cfg.settings (
    { sources = lib.mapAttrs (name: path: { inherit path; }) cfg.vaults; }
    // lib.optionalAttrs cfg.opencode.enable { sessions.opencode.enabled = true; }
    // lib.optionalAttrs cfg.serve.enable { serve.listen = cfg.serve.listen; }
  );
  configFile = toml.generate "vault-index.toml" settings;

  # As systemd reads a path: quoted, without specifiers. One that is not there is no reason not to start.
  quoted = path: "\"-${builtins.replaceStrings [ "\\" "\"" "%" ] [ "\\\\" "\\\"" "%%" ] path}\"";
  writable = [ "%t" ] ++ map quoted (
    [ "${config.xdg.dataHome}/vault-index" ]
    ++ lib.attrValues cfg.vaults
    ++ lib.optional cfg.opencode.enable "${config.xdg.dataHome}/opencode"
  );

  # What answers the network has no business in the vaults; one that holds the index cannot be hidden from it.
  hidden = map quoted (builtins.filter (path: !lib.hasPrefix path config.xdg.dataHome) (lib.attrValues cfg.vaults));
in
{
  options.services.vault-index = {
    enable = lib.mkEnableOption "vault-index, which keeps markdown searchable";

    package = mkOption {
      type = types.package;
      default = packages.${pkgs.stdenv.hostPlatform.system}.default;
      defaultText = "the flake's own";
      description = "The program.";
    };

    vaults = mkOption {
      type = types.attrsOf types.str;
      default = { };
      example = { notes = "/home/anna/Notes"; };
      description = "The folder of each vault, by the name of its source.";
    };

    settings = mkOption {
      type = toml.type;
      default = { };
      example = { search.limit = 20; };
      description = "All other settings (docs/configuration.md), including those of sources. All users can read the Nix store, so put no key here.";
    };

    opencode.enable = mkOption {
      type = types.bool;
      default = false;
      description = "Whether to index the sessions of OpenCode and install its plugin.";
    };

    environmentFile = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "/run/secrets/vault-index";
      description = "A file outside the Nix store with the daemon's secrets, such as OPENAI_API_KEY=….";
    };

    serve.enable = mkOption {
      type = types.bool;
      default = false;
      description = "Whether to run `vault-index serve`, which answers callers with a token over HTTP (docs/serve.md), as a separate service in a sandbox.";
    };

    serve.listen = mkOption {
      type = types.str;
      default = "127.0.0.1:7341";
      description = "Address and port of `serve`. Set hosts, certificates and proxies in `settings.serve` (docs/configuration.md).";
    };

    sandbox = mkOption {
      type = types.bool;
      default = false;
      description = "Whether to restrict the daemon's writing to the index and the vaults (Linux, with user namespaces).";
    };
  };

  config = mkIf cfg.enable (mkMerge [
    {
      assertions = [
        {
          assertion = cfg.vaults != { } || cfg.opencode.enable;
          message = "services.vault-index.vaults is empty: name a vault, or set services.vault-index.opencode.enable.";
        }
        {
          assertion = !(cfg.settings ? embedding.api_key);
          message = "services.vault-index.settings.embedding.api_key would be readable in the Nix store: use environmentFile.";
        }
      ];
      home.packages = [ cfg.package ];
      xdg.configFile."vault-index/config.toml".source = configFile;
    }

    (mkIf cfg.opencode.enable {
      home.activation.vault-index-opencode = lib.hm.dag.entryAfter [ "writeBoundary" ] "run ${program} agent install opencode";
    })

    (mkIf pkgs.stdenv.hostPlatform.isLinux {
      systemd.user.services.vault-index = {
        Unit = facts.Unit // { X-Restart-Triggers = [ "${configFile}" ]; };
        Service = facts.Service
          // { ExecStart = "${program} watch"; }
          // lib.optionalAttrs (cfg.environmentFile != null) {
            EnvironmentFile = [ facts.Service.EnvironmentFile cfg.environmentFile ];
          }
          // lib.optionalAttrs cfg.sandbox (facts.Sandbox // { ReadWritePaths = writable; });
        Install = facts.Install;
      };
    })

    (mkIf (cfg.serve.enable && pkgs.stdenv.hostPlatform.isLinux) {
      systemd.user.services.vault-index-serve = {
        Unit = facts.Unit // facts.Serve.Unit // { X-Restart-Triggers = [ "${configFile}" ]; };
        Service = removeAttrs facts.Service facts.Serve.Without
          // facts.Sandbox
          // facts.Serve.Service
          // { ExecStart = "${program} serve"; InaccessiblePaths = hidden; };
        Install = facts.Install;
      };
    })

    (mkIf (cfg.serve.enable && pkgs.stdenv.hostPlatform.isDarwin) {
      launchd.agents.vault-index-serve = {
        enable = true;
        config = {
          ProgramArguments = [ program "serve" ];
          RunAtLoad = true;
          KeepAlive.SuccessfulExit = false;
          ThrottleInterval = 60;
          StandardErrorPath = "${config.home.homeDirectory}/Library/Logs/vault-index-serve.log";
        };
      };
    })

    (mkIf pkgs.stdenv.hostPlatform.isDarwin {
      launchd.agents.vault-index = {
        enable = true;
        config = {
          ProgramArguments =
            if cfg.environmentFile == null then
              [ program "watch" ]
            else
              [ "/bin/sh" "-c" "set -a; . ${lib.escapeShellArg cfg.environmentFile}; exec ${program} watch" ];
          RunAtLoad = true;
          KeepAlive.SuccessfulExit = false;
          ThrottleInterval = 60;
          ExitTimeOut = 10;
          LowPriorityBackgroundIO = true;
          StandardErrorPath = "${config.home.homeDirectory}/Library/Logs/vault-index.log";
        };
      };
    })
  ]);
}
