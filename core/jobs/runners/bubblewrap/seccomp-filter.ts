/** Calls that have been used to escape from sandboxes. */
const refused = {
  x64: {
    acct: 163,
    add_key: 248,
    bpf: 321,
    delete_module: 176,
    finit_module: 313,
    fsconfig: 431,
    fsmount: 432,
    fsopen: 430,
    fspick: 433,
    init_module: 175,
    io_uring_enter: 426,
    io_uring_register: 427,
    io_uring_setup: 425,
    kexec_file_load: 320,
    kexec_load: 246,
    keyctl: 250,
    memfd_secret: 447,
    mount: 165,
    mount_setattr: 442,
    move_mount: 429,
    move_pages: 279,
    name_to_handle_at: 303,
    open_by_handle_at: 304,
    open_tree: 428,
    perf_event_open: 298,
    pivot_root: 155,
    quotactl: 179,
    reboot: 169,
    request_key: 249,
    setns: 308,
    swapoff: 168,
    swapon: 167,
    syslog: 103,
    umount2: 166,
    unshare: 272,
    userfaultfd: 323,
  },
  arm64: {
    acct: 89,
    add_key: 217,
    bpf: 280,
    delete_module: 106,
    finit_module: 273,
    fsconfig: 431,
    fsmount: 432,
    fsopen: 430,
    fspick: 433,
    init_module: 105,
    io_uring_enter: 426,
    io_uring_register: 427,
    io_uring_setup: 425,
    kexec_file_load: 294,
    kexec_load: 104,
    keyctl: 219,
    memfd_secret: 447,
    mount: 40,
    mount_setattr: 442,
    move_mount: 429,
    move_pages: 239,
    name_to_handle_at: 264,
    open_by_handle_at: 265,
    open_tree: 428,
    perf_event_open: 241,
    pivot_root: 41,
    quotactl: 60,
    reboot: 142,
    request_key: 218,
    setns: 268,
    swapoff: 225,
    swapon: 224,
    syslog: 116,
    umount2: 39,
    unshare: 97,
    userfaultfd: 282,
  },
} as const;

/** The memory that these calls create belongs to no process. */
const uncounted = {
  x64: { memfd_create: 319, mq_open: 240, msgget: 68, shmget: 29 },
  arm64: { memfd_create: 279, mq_open: 180, msgget: 186, shmget: 194 },
} as const;

const architectures = {
  x64: { audit: 0xc000003e, socket: 41, vhangup: 153 },
  arm64: { audit: 0xc00000b7, socket: 198, vhangup: 58 },
} as const;

/** Local sockets, IPv4, IPv6 and netlink. AF_VSOCK would reach the host of a virtual machine. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const REFUSE = 0x00050000 | 1; // EPERM
/** Higher numbers belong to x86-64's second table of calls, which could bypass the filter of the first. */
const X32 = 0x40000000;

type Instruction = [code: number, whenTrue: number, whenFalse: number, value: number];

/**
 * A call of another architecture ends the process.
 * @param isCounted true if there is no cgroup, so the worker counts the memory of each process
 */
export function seccompFilter({ isCounted }: { isCounted: boolean }, arch: string = process.arch): Buffer {
  if (arch !== "x64" && arch !== "arm64") return Buffer.alloc(0);
  const { audit, socket } = architectures[arch];
  const calls = [...Object.values(refused[arch]), ...(isCounted ? Object.values(uncounted[arch]) : [])];
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD_WORD, 0, 0, NUMBER],
    [JUMP_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, REFUSE],
    ...calls.flatMap((number): Instruction[] => [
      [JUMP_EQUAL, 0, 1, number],
      [RETURN, 0, 0, REFUSE],
    ]),
    [JUMP_EQUAL, 0, SOCKET_FAMILIES.length + 2, socket],
    [LOAD_WORD, 0, 0, FIRST_ARGUMENT],
    ...SOCKET_FAMILIES.map((family, index): Instruction => [JUMP_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, whenTrue, whenFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
