// What is wrong with a sign-in, and what to do about it.
import { ApiError } from "../api/client";
import { sentence } from "../ui/problems";
import { t } from "../words/t";
import { type AccountErrors, accountErrors } from "./errors";

/** By the code of an answer, or the word that the way back from the provider ends with. */
const sentences: ReadonlyMap<string, string> = new Map([
  ["bad_passkey", t("This passkey signs nobody in here. Use another one, or your password.")],
  [
    "passkey_blocked",
    t("This passkey is blocked, since there may be a copy of it. Sign in another way, and remove it in your account."),
  ],
  [
    "no_passkeys",
    t("There are no passkeys here yet. Sign in another way; the operator has to set an https:// address."),
  ],
  ["bad_challenge", t("This sign-in took too long, or was begun in another browser. Begin again.")],
  ["too_many_attempts", t("There were too many attempts. Wait a minute, then try again.")],
  ["no_provider", t("There is no single sign-on here any more. Sign in another way.")],
  ["email_not_verified", t("The provider has not verified your e-mail address. Verify it there, then try again.")],
  [
    "domain_not_allowed",
    t(
      "Nobody with an address of this domain may sign in here. Use your other account at the provider, or ask an owner.",
    ),
  ],
  ["unknown_person", t("There is no account for you yet. Ask an owner for an invitation to your address.")],
  [
    "other_identity",
    t("The account with your address belongs to somebody else at the provider. Ask an owner to look into it."),
  ],
  [
    "not_asked_again",
    t(
      "The provider did not ask you again who you are, or does not say when it did. Ask the operator to have it tell that (auth_time).",
    ),
  ],
  ["account_disabled", t("Your account is disabled. Ask an owner to enable it.")],
  ["account_changed", t("The account was changed at this very moment. Try again.")],
  ["provider_unavailable", t("The provider cannot be reached. Try again in a minute, or sign in another way.")],
  ["provider_refused", t("The provider did not sign you in. Try again, or ask who runs it.")],
  [
    "provider_untrue",
    t("The provider said something that cannot be. Ask the operator to look into the log, and sign in another way."),
  ],
  ["unavailable", t("The server cannot reach its database. Try again in a minute.")],
  ["internal", t("Something went wrong here. Try again; if it stays so, ask the operator to look into the log.")],
]);

/** The sentence for the word of a link. */
export const wordProblem = (word: string): string =>
  sentences.get(word) ?? t("Signing in did not work. Try again, or sign in another way.");

/** What browsers refuse, by the name of the error. */
const refusals: ReadonlyMap<string, string> = new Map([
  [
    "SecurityError",
    t("Passkeys belong to another address of this dashboard. Open it under the one its operator gave it."),
  ],
  ["InvalidStateError", t("This device has a passkey for you here already.")],
  ["ConstraintError", t("This device cannot ask for a finger, a face or a number. Use another one.")],
  ["NotSupportedError", t("This device cannot make such a passkey. Use another one.")],
]);

/** Whether somebody has closed the browser's dialog, or let it be. */
export const cancelled = (error: unknown): boolean =>
  error instanceof DOMException && ["NotAllowedError", "AbortError"].includes(error.name);

/** What the browser has refused, in a sentence; undefined: it was not the browser. */
export const refusal = (error: unknown): string | undefined =>
  error instanceof DOMException ? (refusals.get(error.name) ?? sentence(error.message)) : undefined;

/** What is wrong with a sign-in: at its field, or above the form. */
export function signInErrors(error: unknown): AccountErrors {
  if (cancelled(error)) return {};
  if (!(error instanceof ApiError)) return { form: refusal(error) ?? String(error) };
  const said = error.problem.errors?.length ? undefined : sentences.get(error.problem.code ?? "");
  return said ? { form: said } : accountErrors(error.problem);
}
