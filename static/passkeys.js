// Passkeys: asks the browser for one and sends its answer with the form that asked.
"use strict";

(() => {
  const fromText = (text) => {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
  };
  const toText = (buffer) => {
    const plain = String.fromCharCode(...new Uint8Array(buffer));
    return btoa(plain).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const credentials = (found) => (found || []).map((each) => ({ ...each, id: fromText(each.id) }));

  const create = async (options) => {
    const made = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: fromText(options.challenge),
        user: { ...options.user, id: fromText(options.user.id) },
        excludeCredentials: credentials(options.excludeCredentials),
      },
    });
    return {
      clientDataJSON: toText(made.response.clientDataJSON),
      attestationObject: toText(made.response.attestationObject),
      made,
    };
  };

  const get = async (options) => {
    const made = await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: fromText(options.challenge),
        allowCredentials: credentials(options.allowCredentials),
      },
    });
    const { clientDataJSON, authenticatorData, signature, userHandle } = made.response;
    return {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
      userHandle: userHandle ? toText(userHandle) : null,
      made,
    };
  };

  const answer = async (form) => {
    const options = JSON.parse(form.dataset.options);
    const ask = form.dataset.passkey === "create" ? create : get;
    const { made, ...response } = await ask(options);
    return JSON.stringify({
      id: made.id,
      rawId: toText(made.rawId),
      type: made.type,
      response,
      clientExtensionResults: made.getClientExtensionResults(),
    });
  };

  // Browsers bind a passkey to a name and refuse an address in numbers.
  const isNumbers = /^[\d.]+$|^\[/.test(window.location.hostname);

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const failed = form.querySelector("[data-failed]");
    if (!window.PublicKeyCredential || isNumbers) {
      form.querySelector("[data-unsupported]").hidden = false;
      continue;
    }
    form.querySelector("[data-ask]").hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      failed.hidden = true;
      try {
        form.elements.credential.value = await answer(form);
        form.submit();
      } catch {
        failed.hidden = false;
      }
    });
  }
})();
