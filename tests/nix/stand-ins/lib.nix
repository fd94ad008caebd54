# As much of nixpkgs' lib as the flake and the module use, and a small evaluator of modules in place of evalModules:
# it checks the type of every option, fills in defaults, and resolves mkIf and mkMerge.
let
  inherit (builtins) all attrNames attrValues concatLists elem filter foldl' head isAttrs isBool isFunction isList isPath isString
    listToAttrs map mapAttrs tail;
  type = name: check: { inherit name check; };
in
rec {
  inherit mapAttrs attrValues;
  genAttrs = names: make: listToAttrs (map (name: { inherit name; value = make name; }) names);
  optional = condition: value: if condition then [ value ] else [ ];
  optionalAttrs = condition: value: if condition then value else { };
  recursiveUpdate = left: right:
    left // mapAttrs (name: value: if isAttrs value && isAttrs (left.${name} or null) then recursiveUpdate left.${name} value else value) right;
  hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
  escapeShellArg = text: "'${text}'";
  cleanSource = path: path;
  licenses.mit = "mit";
  platforms = { linux = [ "linux" ]; darwin = [ "darwin" ]; };
  hm.dag.entryAfter = after: data: { inherit after data; };

  mkOption = option: option // { _type = "option"; };
  mkEnableOption = what: mkOption { type = types.bool; default = false; description = "Whether to enable ${what}."; };
  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkMerge = contents: { _type = "merge"; inherit contents; };

  types = rec {
    bool = type "boolean" isBool;
    str = type "string" isString;
    package = type "package" (value: isAttrs value && value ? outPath);
    nullOr = inner: type "null or ${inner.name}" (value: value == null || inner.check value);
    attrsOf = inner: type "attribute set of ${inner.name}" (value: isAttrs value && all inner.check (attrValues value));
  };

  # [{ path, option }] of a tree of options.
  optionsOf = path: tree:
    if (tree._type or "") == "option" then [ { inherit path; option = tree; } ]
    else concatLists (attrValues (mapAttrs (name: optionsOf (path ++ [ name ])) tree));

  # The module's configuration for what somebody wrote; throws where evalModules would.
  evaluate = { module, pkgs, given, around ? { } }:
    let
      result = module { inherit pkgs config; lib = import ./lib.nix; };
      declared = optionsOf [ ] result.options;
      at = path: tree: foldl' (found: name: if found == null then null else found.${name} or null) tree path;
      has = path: tree: path == [ ] || (isAttrs tree && tree ? ${head path} && has (tail path) tree.${head path});
      put = path: value: if path == [ ] then value else { ${head path} = put (tail path) value; };
      name = path: builtins.concatStringsSep "." path;
      valueOf = { path, option }:
        let value = if has path given then at path given else option.default or (throw "${name path} has no value");
        in if option.type.check value then value else throw "${name path} is not of type ${option.type.name}";
      known = path: any: builtins.any (one: one.path == path) any;
      unknown = path: tree:
        if known path declared then [ ]
        else if !isAttrs tree then [ (name path) ]
        else concatLists (attrValues (mapAttrs (key: unknown (path ++ [ key ])) tree));
      values = foldl' recursiveUpdate { } (map (one: put one.path (valueOf one)) declared);
      config = recursiveUpdate around values;
      resolved = resolve result.config;
      failed = filter (one: !one.assertion) (resolved.assertions or [ ]);
      strays = unknown [ ] given;
    in
    if strays != [ ] then throw "no option ${head strays}"
    else if failed != [ ] then throw (head failed).message
    else { config = removeAttrs resolved [ "assertions" ]; inherit declared; };

  resolve = value:
    if !isAttrs value || value ? outPath then value
    else if (value._type or "") == "if" then (if value.condition then resolve value.content else { })
    else if (value._type or "") == "merge" then foldl' recursiveUpdate { } (map resolve value.contents)
    else mapAttrs (_: resolve) value;
}
