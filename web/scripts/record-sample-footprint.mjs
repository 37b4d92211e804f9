// Collects, from a trace of instructions and accesses, touched bytes by line and work by stack.

export const LINE_BYTES = 64;

/** Lines of one kind: per line a count for each byte, and which bytes each stack touched. */
export class Lines {
  constructor() {
    this.counts = new Map();
    this.touches = new Map();
  }

  add(address, size, stack) {
    for (let at = address; at < address + size; ) {
      const offset = at % LINE_BYTES;
      const line = at - offset;
      const end = Math.min(LINE_BYTES, offset + address + size - at);
      this.addWithin(line, offset, end, stack);
      at = line + end;
    }
  }

  addWithin(line, from, end, stack) {
    let counts = this.counts.get(line);
    if (!counts) {
      counts = new Uint32Array(LINE_BYTES);
      this.counts.set(line, counts);
      this.touches.set(line, new Map());
    }
    const stacks = this.touches.get(line);
    let bytes = stacks.get(stack);
    if (!bytes) {
      bytes = new Uint8Array(LINE_BYTES);
      stacks.set(stack, bytes);
    }
    for (let index = from; index < end; index += 1) {
      counts[index] += 1;
      bytes[index] = 1;
    }
  }
}

export class Footprint {
  constructor(nameAt) {
    this.nameAt = nameAt;
    this.names = [];
    this.places = new Map();
    // Node 0 is the root; nodes are stacks, each with the node that called it and its function.
    this.parent = [0];
    this.name = [this.place("bash")];
    this.own = [0];
    this.children = [new Map()];
    this.frames = [];
    this.lines = { instructions: new Lines(), data: new Lines() };
    this.before = null;
  }

  place(name) {
    let place = this.places.get(name);
    if (place === undefined) {
      place = this.names.push(name) - 1;
      this.places.set(name, place);
    }
    return place;
  }

  instruction(address, size) {
    if (this.before) this.follow(this.before, address);
    const caller = this.frames.at(-1)?.node ?? 0;
    const node = this.child(caller, this.place(this.nameAt(address)));
    this.own[node] += 1;
    this.lines.instructions.add(address, size, node);
    this.before = { address, size, node, stored: null, loaded: null };
  }

  access(kind, address, size) {
    const { before } = this;
    if (!before) return;
    this.lines.data.add(address, size, before.node);
    if (size !== 8) return;
    if (kind === "L") before.loaded ??= address;
    else before.stored = address;
  }

  /** Decides, knowing where execution went on, whether the instruction before called or returned. */
  follow(before, next) {
    // An instruction repeated (`rep stos`) is followed by itself.
    if (next === before.address + before.size || next === before.address) return;
    if (before.stored !== null) {
      this.frames.push({ node: before.node, slot: before.stored });
      return;
    }
    const found = this.frames.findLastIndex((frame) => frame.slot === before.loaded);
    if (found >= 0) this.frames.length = found;
  }

  child(caller, place) {
    let node = this.children[caller].get(place);
    if (node === undefined) {
      node = this.parent.push(caller) - 1;
      this.name.push(place);
      this.own.push(0);
      this.children.push(new Map());
      this.children[caller].set(place, node);
    }
    return node;
  }

  describe() {
    const touches = (lines) => [...lines.touches.values()].reduce((sum, one) => sum + one.size, 0);
    const { instructions, data } = this.lines;
    return (
      `${instructions.counts.size} lines of instructions (${touches(instructions)} touches), ` +
      `${data.counts.size} of data (${touches(data)}), ${this.parent.length} stacks`
    );
  }
}
