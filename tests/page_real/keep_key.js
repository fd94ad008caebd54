// Sign a context in with the key of a page, as api.js stores it.
async (hex) => {
  const bytes = new Uint8Array(hex.match(/../g).map((byte) => parseInt(byte, 16)));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  await new Promise((resolve, reject) => {
    const opening = indexedDB.open("vault-index", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = reject;
    opening.onsuccess = () => {
      const kept = opening.result.transaction("keys", "readwrite");
      kept.objectStore("keys").put(key, "key");
      kept.oncomplete = resolve;
    };
  });
  localStorage.setItem("vault-index.signed-in", "1");
}
