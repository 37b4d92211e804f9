// What Rust has put into the page, decoded: the payload, the block of bytes, and the documents.

import type { ArrayRef, Document, Payload, TextRef } from "../contract";

/** The version of the contract that this script was built for. */
export const PAGE_VERSION = 3;

/** Something in the page is not as it should be; the message is shown to the reader. */
export class PageError extends Error {}

/** The payload, with everything that it refers to. */
export interface Decoded {
  payload: Payload;
  documents: Document[];
  block: ArrayBuffer;
}

/** Reads the two data elements of the page. */
export async function decode(root: ParentNode): Promise<Decoded> {
  const [payloadText, bytes] = await Promise.all([unpack(root, "payload"), unpack(root, "block")]);
  const payload = parse<Payload>(new TextDecoder().decode(payloadText), "the report's data");
  if (payload.page_version !== PAGE_VERSION) {
    throw new PageError(
      `The page's data have version ${payload.page_version}, its script version ${PAGE_VERSION}: ` +
        "write the report again with one version of fsprism.",
    );
  }
  const block = bytes.buffer as ArrayBuffer;
  const documents = payload.runs.map((run) =>
    parse<Document>(textOf(block, run.document), `the document of ${run.name}`),
  );
  return { payload, documents, block };
}

function parse<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new PageError(`${what} cannot be read: the file is damaged.`, { cause });
  }
}

async function unpack(root: ParentNode, id: string): Promise<Uint8Array> {
  const text = root.querySelector(`#${id}`)?.textContent?.trim();
  if (!text) throw new PageError("The file ends before its data: it was cut off.");
  try {
    const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (cause) {
    throw new PageError("The file's data cannot be unpacked: it was cut off or changed.", {
      cause,
    });
  }
}

/** A text in the block. */
export function textOf(block: ArrayBuffer, { offset, length }: TextRef): string {
  check(block, offset, length);
  return new TextDecoder().decode(new Uint8Array(block, offset, length));
}

/** An array of 64-bit floating-point numbers, not copied. */
export function floats(block: ArrayBuffer, ref: ArrayRef): Float64Array {
  if (ref.type !== "f64") throw new PageError(`An array of ${ref.type} where f64 was expected.`);
  check(block, ref.offset, ref.length * 8);
  return new Float64Array(block, ref.offset, ref.length);
}

/** An array of unsigned 32-bit numbers, not copied. */
export function unsigned(block: ArrayBuffer, ref: ArrayRef): Uint32Array {
  if (ref.type !== "u32") throw new PageError(`An array of ${ref.type} where u32 was expected.`);
  check(block, ref.offset, ref.length * 4);
  return new Uint32Array(block, ref.offset, ref.length);
}

/** An array of unsigned 64-bit numbers, not copied. */
export function unsigned64(block: ArrayBuffer, ref: ArrayRef): BigUint64Array {
  if (ref.type !== "u64") throw new PageError(`An array of ${ref.type} where u64 was expected.`);
  check(block, ref.offset, ref.length * 8);
  return new BigUint64Array(block, ref.offset, ref.length);
}

function check(block: ArrayBuffer, offset: number, bytes: number) {
  if (offset + bytes > block.byteLength) {
    throw new PageError("The file's data are shorter than they say: it was cut off or changed.");
  }
}
