// The server side of RFC 6455, as little as the mock needs: text frames, no
// fragments, no extensions.
import { createHash } from "node:crypto";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Answers an upgrade request; calls onText for each text frame. */
export function accept(request, socket, protocol, { onText, onClose }) {
  const key = createHash("sha1")
    .update(request.headers["sec-websocket-key"] + GUID)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  let buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (let frame = read(buffer); frame; frame = read(buffer)) {
      buffer = buffer.subarray(frame.size);
      if (frame.opcode === 1) onText(frame.data.toString());
      if (frame.opcode === 8) socket.end();
    }
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", onClose);
  return {
    send: (message) => socket.writable && socket.write(text(JSON.stringify(message))),
    close: () => socket.destroy(),
  };
}

function read(buffer) {
  if (buffer.length < 2) return null;
  const opcode = buffer[0] & 15;
  const masked = buffer[1] >= 128;
  let length = buffer[1] & 127;
  let at = 2;
  if (length === 126) {
    if (buffer.length < 4) return null;
    length = buffer.readUInt16BE(2);
    at = 4;
  }
  if (length === 127 || buffer.length < at + (masked ? 4 : 0) + length) return null;
  const mask = masked ? buffer.subarray(at, at + 4) : null;
  if (mask) at += 4;
  const data = Buffer.from(buffer.subarray(at, at + length));
  if (mask) for (let i = 0; i < length; i++) data[i] ^= mask[i % 4];
  return { opcode, data, size: at + length };
}

function text(payload) {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
  head[0] = 0x81;
  if (body.length < 126) head[1] = body.length;
  else if (body.length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(body.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
  }
  return Buffer.concat([head, body]);
}
