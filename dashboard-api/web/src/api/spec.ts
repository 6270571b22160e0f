// The parts of a target: how it is visited, and what it must answer.

/** What an answer must be; /api/v1/assertions/rules says which source takes which op and value. */
export interface Assertion {
  source: string;
  name?: string;
  op: string;
  value?: string;
  severity?: "fail" | "degrade";
}

/** What may be asserted of a source. */
export interface AssertionRule {
  source: string;
  /** Of targets that have the source. */
  kinds: string[];
  /** What the name of such an assertion holds; empty: it takes none. */
  name: string;
  /** What each op is given: "none" for nothing. */
  ops: { op: string; value: string }[];
}

/** A header that is sent; a secret one reads "[secret]", and written so it is kept. */
export interface RequestHeader {
  name: string;
  value?: string;
  secret?: string;
}

export interface HttpPart {
  method?: string;
  headers?: RequestHeader[];
  body?: string;
  body_secret?: string;
  query_secret?: string;
  username?: string;
  password?: string;
  token?: string;
  redirects?: number;
  cookies?: boolean;
  compressed?: boolean;
  version?: "2" | "3" | "best";
}

export interface TlsPart {
  server_name?: string;
  skip_verify?: boolean;
  post_quantum?: boolean;
}

export interface TcpPart {
  send?: string;
  send_secret?: string;
  starttls?: "smtp" | "imap" | "ftp";
}

export interface DnsPart {
  transport?: "tcp" | "tls" | "https";
}

export interface WebSocketPart {
  send?: string;
  headers?: RequestHeader[];
  subprotocols?: string[];
}

/** When a job is to ping: after a period, or by a cron expression in a time zone. */
export interface HeartbeatPart {
  period_s?: number;
  cron?: string;
  /** IANA name; absent: UTC. */
  zone?: string;
  grace_s: number;
}
