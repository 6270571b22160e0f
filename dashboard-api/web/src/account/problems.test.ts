import { describe, expect, it } from "vitest";
import { ApiError } from "../api/client";
import { cancelled, refusal, signInErrors, wordProblem } from "./problems";

const general = wordProblem("");
const answer = (status: number, code: string, more = {}) =>
  new ApiError({ type: "about:blank", title: "Refused", status, code, detail: "what the server says", ...more });

describe("what is wrong with a sign-in", () => {
  it("has a sentence for every word that the way back from the provider ends with", () => {
    const words = [
      "no_provider",
      "bad_challenge",
      "email_not_verified",
      "domain_not_allowed",
      "unknown_person",
      "other_identity",
      "not_asked_again",
      "account_disabled",
      "account_changed",
      "provider_unavailable",
      "provider_refused",
      "provider_untrue",
      "unavailable",
      "too_many_attempts",
      "internal",
    ];
    const said = words.map(wordProblem);
    expect(new Set([...said, general]).size).toBe(words.length + 1);
    for (const one of said) expect(one).toMatch(/^[A-Z].*\.$/);
  });
  it("has a general one for any other word, which is not shown", () => {
    for (const word of ["nonsense", "constructor", "__proto__", "<b>"]) expect(wordProblem(word)).toBe(general);
  });
  it("says of a passkey what to do next", () => {
    expect(signInErrors(answer(401, "bad_passkey")).form).toMatch(/Use another one, or your password/);
    expect(signInErrors(answer(401, "passkey_blocked")).form).toMatch(/Sign in another way, and remove it/);
    expect(signInErrors(answer(401, "bad_challenge")).form).toMatch(/Begin again/);
    expect(signInErrors(answer(409, "no_passkeys")).form).toMatch(/Sign in another way/);
    expect(signInErrors(answer(429, "too_many_attempts")).form).toMatch(/Wait a minute/);
  });
  it("is told in the server's words where there are no others, and at its field", () => {
    expect(signInErrors(answer(401, "bad_login"))).toEqual({ form: "What the server says." });
    const errors = [{ pointer: "/code", code: "wrong_code", message: "this code is wrong" }];
    expect(signInErrors(answer(422, "invalid", { errors }))).toEqual({ code: "This code is wrong." });
  });
  it("is nothing when somebody closes the browser's dialog", () => {
    const closed = new DOMException("The operation timed out or was not allowed.", "NotAllowedError");
    expect(cancelled(closed)).toBe(true);
    expect(signInErrors(closed)).toEqual({});
    expect(cancelled(new Error("NotAllowedError"))).toBe(false);
  });
  it("has a sentence for what the browser refuses", () => {
    expect(refusal(new DOMException("x", "SecurityError"))).toMatch(/another address of this dashboard/);
    expect(refusal(new DOMException("x", "InvalidStateError"))).toMatch(/has a passkey for you here already/);
    expect(refusal(new DOMException("the disk is full", "UnknownError"))).toBe("The disk is full.");
    expect(refusal(new Error("x"))).toBeUndefined();
    expect(signInErrors(new DOMException("x", "SecurityError")).form).toMatch(/another address of this dashboard/);
  });
});
