import { Megaphone } from "lucide-react";
import type { Post } from "../api/statusPages";
import { StateIcon } from "../ui/StateIcon";
import { iconOf } from "./posts";

/** How bad it is, or was; what says nothing of that is just said. */
export function PostIcon({ post, size }: { post: Post; size: number }) {
  const state = iconOf(post);
  return state ? <StateIcon state={state} size={size} /> : <Megaphone size={size} aria-hidden className="muted" />;
}
