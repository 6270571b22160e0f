// What stands in the address of a check of DNS or gRPC, as fields beside it.

/** Record types that can be asked for. */
export const recordTypes = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"] as const;

/** A question of DNS. */
export interface Question {
  /** Empty: the prober's own resolvers. */
  server: string;
  name: string;
  type: string;
}

/** What an address asks (RFC 4501); null for what is no such address. */
export function questionOf(url: string): Question | null {
  const found = /^dns:(?:\/\/([^/?#]*)\/?)?([^?#]*)(?:\?([^#]*))?$/i.exec(url.trim());
  if (!found) return null;
  const [, server = "", name = "", query = ""] = found;
  const type = query.split(/[;&]/).find((one) => /^type=/i.test(one));
  return { server, name, type: type ? type.slice(5).toUpperCase() : "A" };
}

/** The address that asks something else. What would end the server's part of it is left out. */
export function withQuestion(url: string, change: Partial<Question>): string {
  const asked = questionOf(url);
  if (!asked) return url;
  const { server, name, type } = { ...asked, ...change };
  return `dns://${server.replace(/[\s/?#]+/g, "")}/${name}?type=${type}`;
}

/** A health check of gRPC. */
export interface Health {
  secure: boolean;
  host: string;
  /** Empty: the server as a whole. */
  service: string;
}

/** What an address checks; null for what is no such address. */
export function healthOf(url: string): Health | null {
  const [, scheme, host = "", service = ""] = /^(grpcs?):\/\/([^/?#]*)\/?([^?#]*)$/i.exec(url.trim()) ?? [];
  return scheme ? { secure: /s$/i.test(scheme), host, service } : null;
}

/** The address that checks something else. */
export function withHealth(url: string, change: Partial<Health>): string {
  const checked = healthOf(url);
  if (!checked) return url;
  const { secure, host, service } = { ...checked, ...change };
  const path = service.replace(/[\s?#]+/g, "");
  return `${secure ? "grpcs" : "grpc"}://${host}${path && `/${path}`}`;
}
