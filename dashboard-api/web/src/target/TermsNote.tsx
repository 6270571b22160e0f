import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { api } from "../api/endpoints";
import { Unreadable } from "../ui/Unreadable";
import { Unverified } from "../ui/Unverified";

/** Says of a target that it cannot be read how it is visited, or that its certificate is taken as it is: what is up may be anybody. */
export function TermsNote({ id }: { id: number }) {
  const { data } = useQuery({ queryKey: ["terms", id], queryFn: () => api.target(id) });
  if (data?.tls?.skip_verify) return <Unverified />;
  if (!data?.unreadable) return null;
  return (
    <div className="banner warn">
      <TriangleAlert size={17} aria-hidden className="s-degraded" />
      <Unreadable why={data.unreadable} />
    </div>
  );
}
