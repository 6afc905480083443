import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** WebAuthn Level 3 §6. */
export class SoftwarePasskey {
  readonly id = randomBytes(16);
  readonly #key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #userHandle = "";
  /** Authenticators that synchronize their keys report 0. */
  counter = 0;
  isVerifying = true;
  /** The format, with at most 23 characters. The statement is always empty. */
  attestation = "none";
  keyPadding = Buffer.alloc(0);
  origin: string;

  constructor(origin = "http://localhost:3000") {
    this.origin = origin;
  }

  register({ challenge, user }: { challenge: string; user: { id: string } }) {
    this.#userHandle = user.id;
    const attested = Buffer.concat([Buffer.alloc(16), twoBytes(this.id.length), this.id, this.#coseKey()]);
    const authData = this.#authenticatorData(0x40, attested);
    // CBOR of { fmt, attStmt: {}, authData }
    const attestationObject = Buffer.concat([
      Buffer.from("a363666d74", "hex"),
      Buffer.from([0x60 + this.attestation.length]),
      Buffer.from(this.attestation),
      Buffer.from("6761747453746d74a0686175746844617461", "hex"),
      byteString(authData),
    ]);
    return {
      ...this.#credential(),
      authenticatorAttachment: "platform",
      response: {
        clientDataJSON: this.#clientData("webauthn.create", challenge).toString("base64url"),
        attestationObject: attestationObject.toString("base64url"),
        transports: ["internal"],
      },
    };
  }

  answer({ challenge }: { challenge: string }, { userHandle = this.#userHandle } = {}) {
    const clientData = this.#clientData("webauthn.get", challenge);
    const authenticatorData = this.#authenticatorData(0, Buffer.alloc(0));
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientData).digest()]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authenticatorData.toString("base64url"),
        signature: sign("sha256", signed, this.#key.privateKey).toString("base64url"),
        userHandle,
      },
    };
  }

  #credential() {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }));
  }

  #authenticatorData(moreFlags: number, rest: Buffer): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const flags = 0x01 | (this.isVerifying ? 0x04 : 0) | moreFlags;
    const rpIdHash = createHash("sha256").update(new URL(this.origin).hostname).digest();
    return Buffer.concat([rpIdHash, Buffer.from([flags]), counter, rest]);
  }

  /** RFC 9053 §7.1.1. The base IV (RFC 9052 §7.1) only makes the key longer. */
  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#key.publicKey.export({ format: "jwk" });
    const part = (label: string, value: string) =>
      Buffer.concat([Buffer.from(`${label}5820`, "hex"), Buffer.from(value, "base64url")]);
    const padding = [Buffer.from([5]), byteString(this.keyPadding)];
    return Buffer.concat([Buffer.from("a6010203262001", "hex"), part("21", x), part("22", y), ...padding]);
  }
}

/** A byte string of up to 65,535 bytes in CBOR (RFC 8949 §3.1). */
function byteString(bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 24 ? [0x40 + length] : length < 256 ? [0x58, length] : [0x59, ...twoBytes(length)];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function twoBytes(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
