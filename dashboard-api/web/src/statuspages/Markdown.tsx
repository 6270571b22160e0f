import { type Node, Parser } from "commonmark";
import { createElement, Fragment, type ReactNode } from "react";

const parser = new Parser();
const blocks: Partial<Record<Node["type"], string>> = {
  document: "",
  paragraph: "p",
  block_quote: "blockquote",
  item: "li",
  emph: "em",
  strong: "strong",
};

/** Text as the public page shows it: neither HTML nor images, and links to the web and to mail alone. */
export function Markdown({ text }: { text: string }) {
  return <>{render(parser.parse(text))}</>;
}

function render(node: Node, key?: number): ReactNode {
  const inner = () => {
    const children: ReactNode[] = [];
    for (let child = node.firstChild, i = 0; child; child = child.next, i++) children.push(render(child, i));
    return children;
  };
  const element = (tag: string, ...children: ReactNode[]) => createElement(tag, { key }, ...children);
  switch (node.type) {
    case "text":
      return node.literal;
    case "softbreak":
      return "\n";
    case "linebreak":
      return element("br");
    case "thematic_break":
      return element("hr");
    case "code":
      return element("code", node.literal);
    case "code_block":
      return element("pre", <code key="code">{node.literal}</code>);
    case "heading":
      return element(`h${node.level}`, ...inner());
    case "list":
      return element(node.listType === "ordered" ? "ol" : "ul", ...inner());
    case "link":
      return link(node.destination, key, inner());
    case "html_inline":
    case "html_block":
    case "image":
      return null;
    case "paragraph":
      if (tight(node)) return <Fragment key={key}>{inner()}</Fragment>;
      return element("p", ...inner());
    default: {
      const tag = blocks[node.type];
      return tag ? element(tag, ...inner()) : <Fragment key={key}>{inner()}</Fragment>;
    }
  }
}

/** Lines of a list without blank ones between them are no paragraphs. */
const tight = (node: Node): boolean => {
  const list = node.parent?.parent;
  return list?.type === "list" && list.listTight;
};

const may = /^(https?:|mailto:)/i;

function link(to: string | null, key: number | undefined, children: ReactNode[]): ReactNode {
  if (!to || !may.test(to) || !URL.canParse(to)) return <Fragment key={key}>{children}</Fragment>;
  return (
    <a key={key} href={to} rel="nofollow noreferrer" target="_blank">
      {children}
    </a>
  );
}
