import { expect, test } from "vitest";
import { hashChunk, hashOfText, hashRange, hashText, MerkleTree } from "./hashes.ts";
import vectors from "./testing/merkle-vectors.json" with { type: "json" };

// The vectors are those of draft-denis-xet and of the reference implementation (its `test_correctness`).
test("a hash is written with each eight bytes in reverse order", () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
  const text = "07060504030201000f0e0d0c0b0a090817161514131211101f1e1d1c1b1a1918";
  expect(hashText(bytes)).toBe(text);
  expect(hashOfText(text)).toEqual(bytes);
});

test("a chunk has the expected hash", () => {
  expect(hashText(hashChunk(Buffer.from("Hello World!")))).toBe(
    "d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb",
  );
});

test("the chunks of a term have the expected hash", () => {
  const one = Buffer.from("aad4607a38588fc2777f7cda1c310c209e86f564486186f6694aa1d065f7ebad", "hex");
  const two = Buffer.from("2cce73e063324e6e271e360c77cc780e65ab984b053bdb78220fa74f08fc77e2", "hex");
  expect(hashText(hashRange(Buffer.concat([one, two])))).toBe("eb06a8ad81d588ac05d1d9a079232d9c1e7d0b07232fa58091caa7bf333a2768");
});

const treeOf = (nodes: readonly (readonly [string, number])[]): MerkleTree => {
  const tree = new MerkleTree();
  for (const [hash, length] of nodes) tree.add(hashOfText(hash), length);
  return tree;
};

test("two chunks have the expected parent", () => {
  const nodes = [
    ["c28f58387a60d4aa200c311cda7c7f77f686614864f5869eadebf765d0a14a69", 100],
    ["6e4e3263e073ce2c0e78cc770c361e2778db3b054b98ab65e277fc084fa70f22", 200],
  ] as const;
  expect(hashText(treeOf(nodes).xorbHash())).toBe("be64c7003ccd3cf4357364750e04c9592b3c36705dee76a71590c011766b6c14");
});

test.each(vectors.cases.map((one) => [one.nodes.length, one] as const))(
  "a tree of %i chunks has the hashes of the test vectors",
  (_, { nodes, xorbHash, fileHash }) => {
    const named = nodes.map(([hash, length]) => [vectors.hashes[hash as number] as string, length as number] as const);
    expect(hashText(treeOf(named).xorbHash())).toBe(xorbHash);
    expect(hashText(treeOf(named).fileHash())).toBe(fileHash);
  },
);
