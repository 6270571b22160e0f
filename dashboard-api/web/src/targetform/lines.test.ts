import { expect, test } from "vitest";
import { judge, linesOf, only, taken } from "./lines";

const read = (text: string) => linesOf(text).map(({ no, url, name }) => [no, url, name]);

test("a line is an address and perhaps a name, after a tab or a comma", () => {
  expect(read("https://a.example\r\n\r\n  b.example:8443/x , The b \ntcp://c.example:25\tMail, inbound\n")).toEqual([
    [1, "https://a.example", ""],
    [3, "b.example:8443/x", "The b"],
    [4, "tcp://c.example:25", "Mail, inbound"],
  ]);
  expect(read("Shop,https://a.example/")).toEqual([[1, "https://a.example/", "Shop"]]);
  expect(read('"https://a.example/1,2","Say ""hi"", now"\nhttps://b.example/"q"')).toEqual([
    [1, "https://a.example/1,2", 'Say "hi", now'],
    [2, 'https://b.example/"q"', ""],
  ]);
});

test("a spreadsheet's headings say where the address is", () => {
  const text = "\uFEFFID,Friendly Name,URL\n7,Shop,a.example\n8,,b.example\n9,Empty";
  expect(read(text)).toEqual([
    [2, "a.example", "Shop"],
    [3, "b.example", ""],
    [4, "", "Empty"],
  ]);
  expect(read("Name;URL\nShop, the;https://a.example/")).toEqual([[2, "https://a.example/", "Shop, the"]]);
  expect(only(text, new Set([3]))).toBe("ID,Friendly Name,URL\n8,,b.example");
  expect(only("a\n\nb\nc", new Set([1, 4]))).toBe("a\nc");
});

test("each line is judged before it is sent", () => {
  const watched = [{ url: "https://there.example/", name: "There" }];
  const text = [
    "good.example",
    "https://GOOD.example:443/",
    "https://there.example",
    "two words.example",
    "ftp://files.example",
    "https://ann:pw@x.example",
    "tcp://mail.example",
    "https://",
    "icmp://router.example,Router",
    "icmp://other.example,Router",
    "https://n.example,There",
    `https://long.example,${"x".repeat(121)}`,
    "dns:///example.com?type=MX",
    "grpc://[2001:db8::1]:50051",
    "tcp://[2001:db8::1]",
  ].join("\n");
  const said = judge(linesOf(text), taken(watched)).map(({ no, is, why }) => [no, is, why]);
  expect(said).toEqual([
    [1, "good", ""],
    [2, "skip", "The same as line 1."],
    [3, "skip", "Watched already, as There."],
    [4, "bad", "A URL has no spaces in it."],
    [5, "bad", "URLs of ftp: cannot be watched."],
    [6, "bad", "A user name or password in a URL would be shown to everybody."],
    [7, "bad", "A port is missing after the host."],
    [8, "bad", "This is not a URL."],
    [9, "good", ""],
    [10, "bad", "Line 9 has the same name."],
    [11, "bad", "Another target has the name There."],
    [12, "bad", "A name has at most 120 characters."],
    [13, "good", ""],
    [14, "good", ""],
    [15, "bad", "A port is missing after the host."],
  ]);
  expect(judge(linesOf("good.example"), taken([])).map(({ url }) => url)).toEqual(["https://good.example"]);
});

test("paths that differ in case are two addresses, with and without a query, too", () => {
  const text = "https://a.example/x\nhttps://a.example/X\nhttps://a.example/x?q=1\nhttps://a.example/x/";
  expect(judge(linesOf(text), taken([])).map(({ is }) => is)).toEqual(["good", "good", "good", "good"]);
});
