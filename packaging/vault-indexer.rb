# The Homebrew formula. `make release` fills it from packaging/ and writes it to dist/.
class VaultIndexer < Formula
  desc "Search markdown notes and agent sessions by keyword and by meaning"
  homepage "https://pypi.org/project/vault-indexer/"
  url "https://files.pythonhosted.org/packages/source/v/vault-indexer/vault_indexer-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "uv" => :build
  depends_on "python@3.13"

  def install
    # Exactly the versions of uv.lock, each checked by its hash.
    ENV["UV_PROJECT_ENVIRONMENT"] = libexec
    system "uv", "sync", "--locked", "--no-editable", "--compile-bytecode",
           "--python", Formula["python@3.13"].opt_bin/"python3.13"
    bin.install_symlink libexec/"bin/vault-index", libexec/"bin/vx"
  end

  service do
    run [opt_bin/"vault-index", "watch"]
    keep_alive true
  end

  test do
    (testpath/"vault/wal.md").write "Readers never wait for the writer."
    ENV["VAULT_INDEX_HOME"] = testpath/"home"
    system bin/"vault-index", "init", testpath/"vault", "--no-sessions"
    assert_match "wal.md", shell_output("#{bin}/vault-index search 'nobody is kept waiting'")
  end
end
