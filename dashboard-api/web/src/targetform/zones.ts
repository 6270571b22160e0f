// Browsers give some zones by names that were changed long ago; people look for today's.
const renamed: Record<string, string> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};
const today = (zone: string) => renamed[zone] ?? zone;

/** Every IANA time zone that this browser knows, UTC first, by the names of today. */
export function allZones(): string[] {
  const known = new Set((Intl.supportedValuesOf?.("timeZone") ?? []).map(today));
  known.delete("UTC");
  return ["UTC", ...[...known].sort()];
}

export const ownZone = (): string => today(Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");

const words = (text: string) =>
  text
    .toLowerCase()
    .split(/[\s/_]+/)
    .filter(Boolean);

/** Those whose name has every word that was typed, in any order; a word may be cut off. */
export function matching(zones: readonly string[], text: string): string[] {
  const wanted = words(text);
  return zones.filter((zone) => {
    const parts = words(zone);
    return wanted.every((word) => parts.some((part) => part.includes(word)));
  });
}

/** Such as UTC+05:45, at an instant; empty for a zone that is not known here. */
export function offsetOf(zone: string, at: Date): string {
  try {
    const parts = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(at);
    return (parts.find((part) => part.type === "timeZoneName")?.value ?? "")
      .replace("GMT", "UTC")
      .replace(/^UTC[+-]00:00$/, "UTC");
  } catch {
    return "";
  }
}
