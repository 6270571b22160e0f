// What the parts of a target have in common on the way from the form to the API.

/** What stands for a stored secret, in what is read and what is written. */
export const KEPT = "[secret]";

/** A secret as it is sent: what was typed, or that the stored one stays. */
export const secretOf = (typed: string, stored: boolean): string => (typed === "" && stored ? KEPT : typed);

/** Sets a member of a part, or takes it away where it says nothing. */
export function put<P extends object, K extends keyof P>(part: P, name: K, value: P[K] | "" | false | undefined): void {
  if (value === "" || value === false || value === undefined) delete part[name];
  else part[name] = value as P[K];
}

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
