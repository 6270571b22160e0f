import { type Check, hasEnded } from "../api/checks";

const EVERY_MS = 1_000; // while nothing is told of it
const SURE_EVERY_MS = 5_000; // while it should be

/** Whence it is known how a check is. */
export interface Whence {
  get(id: string): Promise<Check>;
  follow(channel: string, changed: () => void): { live(): boolean; end(): void };
}

/**
 * Tells how a check on demand is, until it has ended or the returned function is called: whenever its
 * channel says that something changed, and every second while no channel does. What the channel says
 * is asked for again, for only the answer for one check says which assertions failed. An error is told,
 * and null once the next answer is there.
 */
export function followCheck(
  id: string,
  whence: Whence,
  tell: (check: Check) => void,
  trouble: (error: unknown) => void,
): () => void {
  let over = false;
  let asking = false;
  let again = false;
  let failed = false;
  let asked = Date.now();

  const look = async () => {
    if (over) return;
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    again = false;
    asked = Date.now();
    try {
      const check = await whence.get(id);
      if (over) return;
      if (failed) trouble(null);
      failed = false;
      if (hasEnded(check)) stop();
      tell(check);
    } catch (error) {
      if (over) return;
      failed = true;
      trouble(error);
    } finally {
      asking = false;
    }
    if (again) void look();
  };

  const channel = whence.follow(`checks:${id}`, () => void look());
  const timer = setInterval(() => {
    if (!channel.live() || Date.now() - asked >= SURE_EVERY_MS) void look();
  }, EVERY_MS);
  const stop = () => {
    if (over) return;
    over = true;
    clearInterval(timer);
    channel.end();
  };
  return stop;
}
