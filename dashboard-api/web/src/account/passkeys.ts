// What is asked of the browser. The sentences are those of problems.ts.
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";

/** What there is to sign in with here besides a password; undefined until that is known. */
export const useWays = () =>
  useQuery({ queryKey: ["ways"], queryFn: api.ways, staleTime: Number.POSITIVE_INFINITY }).data;

/** Whether this browser has passkeys. */
export const browserHasPasskeys = (): boolean =>
  "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

export async function givePasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<PublicKeyCredentialJSON> {
  return json(await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
}

export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<PublicKeyCredentialJSON> {
  return json(
    await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
}

function json(credential: Credential | null): PublicKeyCredentialJSON {
  if (!credential) throw new DOMException("", "NotAllowedError");
  return (credential as PublicKeyCredential).toJSON();
}
