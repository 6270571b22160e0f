// What a source file says to people: the texts it takes from the catalogues, and words that it says
// past them. For the test beside.
import ts from "typescript";

export interface Said {
  keys: string[];
  /** Words that no catalogue can translate, each with its line. */
  bare: string[];
}

// Attributes that name things for programs, not for people.
const codes =
  /^(class(Name)?|id|key|type|name|href|to|from|rel|target|role|method|action|d|viewBox|fill|stroke.*|transform|points|pattern|autoComplete|inputMode|dir|lang|htmlFor|aria-(live|expanded|autocomplete|disabled|hidden|pressed|checked|selected|modal|sort|orientation|labelledby|describedby|controls|haspopup|current|relevant)|data-.*|form|accept|kind|tone|variant|state|status|path|scope|search|params|mask|overflow|preserveAspectRatio|rule|at|zone|slug|field|value|icon|size|sizes|allow|sandbox|popover|autoCapitalize|spellCheck|media|loading|decoding|enterKeyHint|as)$/;
const words = /\p{L}{2,}/u;
const sentence = /^[A-Z][\p{L}']+[,:]? \p{L}|\p{L}+ \p{L}+ \p{L}+/u;

const word = /^[A-Z][a-z]{2,}$/;
// Keys of the keyboard, headers and names that are the same in every language.
const names =
  /^(Enter|Escape|Tab|Home|End|Backspace|Delete|Arrow\w+|Page(Up|Down)|Accept|Allow|Authorization|Probefleet|Slack|Discord|Telegram|Opsgenie|Gotify|Pushover|Unix|Bearer|Basic|RSS|Atom|HTML|JSON Feed|Markdown|SSE|CSV|iCal|NDJSON)$/;

const isCall = (node: ts.Node, name: string): node is ts.CallExpression =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name;

/** Where texts are for programs, or for whoever develops. */
function forPrograms(node: ts.Node): boolean {
  for (let at = node.parent; at; at = at.parent) {
    if (ts.isImportDeclaration(at) || ts.isTypeNode(at) || ts.isExportDeclaration(at)) return true;
    if (ts.isNewExpression(at) && /Error$/.test(at.expression.getText())) return true;
    if (ts.isJsxAttribute(at)) return codes.test(at.name.getText());
    if (ts.isFunctionLike(at)) return false;
  }
  return false;
}

export function collect(path: string, source: string): Said {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const said: Said = { keys: [], bare: [] };
  const bare = (node: ts.Node, text: string) =>
    said.bare.push(
      `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${text.trim().replaceAll(/\s+/g, " ")}`,
    );
  const key = (node: ts.Node | undefined, call: ts.Node) => {
    if (node && ts.isStringLiteralLike(node)) said.keys.push(node.text);
    else if (node && ts.isConditionalExpression(node))
      for (const one of [node.whenTrue, node.whenFalse]) key(one, call);
    else if (node && ts.isParenthesizedExpression(node)) key(node.expression, call);
    else bare(call, `${call.getText().slice(0, 60)}: the text has to be written out`);
  };
  const visit = (node: ts.Node): void => {
    if (isCall(node, "t")) {
      key(node.arguments[0], node);
      for (const more of node.arguments.slice(1)) visit(more);
      return;
    }
    if (ts.isJsxAttribute(node) && node.name.getText() === "text" && node.parent.parent.getText().startsWith("<Rich")) {
      const value = node.initializer;
      key(value && ts.isJsxExpression(value) ? value.expression : value, node);
      return;
    }
    if (ts.isJsxText(node)) {
      if (words.test(node.text) && !names.test(node.text.trim())) bare(node, node.text);
    } else if (ts.isJsxAttribute(node) && node.initializer && ts.isStringLiteral(node.initializer)) {
      if (!codes.test(node.name.getText()) && words.test(node.initializer.text)) bare(node, node.getText());
      return;
    } else if (ts.isStringLiteralLike(node)) {
      const spoken = sentence.test(node.text) || (word.test(node.text) && !names.test(node.text));
      if (spoken && !forPrograms(node)) bare(node, node.text);
    } else if (ts.isTemplateExpression(node)) {
      const text = [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join("…");
      if (sentence.test(text) && !forPrograms(node)) bare(node, text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return said;
}
