import type { ReactNode } from "react";
import { Brand } from "../ui/Logo";
import "../styles/account.css";

/** The frame of the pages before somebody is signed in. */
export function AccountPage({ title, intro, children }: { title: string; intro: string; children: ReactNode }) {
  return (
    <main className="account">
      <div className="row brand">
        <Brand size={28} />
      </div>
      <div className="card account-card">
        <h1>{title}</h1>
        <p className="muted">{intro}</p>
        {children}
      </div>
    </main>
  );
}
