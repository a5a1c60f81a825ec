// Hemstitch in a browser: match finding as founding document 000 has it, LZ4 frames and gzip, on WebGPU, and Zstandard restored.
//
// All functions may be called from a window or a module worker, any number at once. A caller's device stays the caller's: it is
// never destroyed. Errors are HemstitchError, but for the reason of an `AbortSignal`, which is thrown as it is, and TypeError for
// what are no bytes. A call that fails leaves nothing behind; the next one starts anew.

// What this file needs of WebGPU's types, for compilers that have none of their own: these merge with those that are there.
declare global {
  interface GPUDevice {}
}

/** `status` is a number of hemstitch.h: 100 an option, 200..203 no such format, 300..307 damaged data, 500..503 the device. */
export class HemstitchError extends Error {
  readonly status: number;
  constructor(message: string, status: number, options?: {cause?: unknown});
}

/**
 * The device that is used where a caller brings none: of the browser's high-performance adapter, with default limits, made once and
 * again after it was lost. Rejects with what to do where the browser has no WebGPU.
 */
export function requestDevice(): Promise<GPUDevice>;

// ---- LZ4 ----

export interface CallOptions {
  /** Default: requestDevice(); where there is no WebGPU, the module's WebAssembly does the work on the calling thread, to the same bytes: compress small inputs so. */
  device?: GPUDevice;
  /** Checked between batches; the call is then rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Content, or what is restored, that is worked on at once, in bytes. Default: 8 MB, on a software adapter 1 MB. */
  batchBytes?: number;
}

export interface Progress {
  /** Bytes of the input that were taken. */
  inputBytes: number;
  totalBytes: number;
  /** Bytes that are ready. */
  outputBytes: number;
}

export interface CompressionOptions extends CallOptions {
  /** 1 to 12. Default: 1. */
  level?: number;
  /** 65536, 262144, 1048576 or 4194304 bytes. Default: 262144. */
  blockSize?: number;
  /** XXH32 of each block. Default: true. */
  blockChecksums?: boolean;
  /** XXH32 of the whole content. Default: false. */
  contentChecksum?: boolean;
}

export interface RestoringOptions extends CallOptions {
  /** Default: true. */
  verifyChecksums?: boolean;
}

/** One LZ4 frame, the one that `hemstitch --backend reference` writes for a file, to the byte. */
export function compressLz4(
  bytes: Uint8Array | ArrayBuffer,
  options?: CompressionOptions & {onProgress?: (progress: Progress) => void},
): Promise<Uint8Array>;

/**
 * The content of LZ4 frames, one after the other, from any tool: independent and linked blocks, legacy and skippable frames. What is
 * damaged is told with its place: "frame 1, block 3, byte 4711: ...". No size that a frame declares decides how much memory is taken.
 */
export function decompressLz4(
  bytes: Uint8Array | ArrayBuffer,
  options?: RestoringOptions & {onProgress?: (progress: Progress) => void},
): Promise<Uint8Array>;

/** `readable.pipeThrough(new Lz4CompressionStream())`: one frame, which does not say its size. Holds a batch at most. */
export class Lz4CompressionStream implements GenericTransformStream {
  constructor(options?: CompressionOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** The way back. Content comes before an error that is met behind it, batch by batch. */
export class Lz4DecompressionStream implements GenericTransformStream {
  constructor(options?: RestoringOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

// ---- gzip ----

export interface GzipCompressionOptions extends CallOptions {
  /** 1 to 12. Default: 6. */
  level?: number;
  /**
   * BGZF: gzip in members of 64 KB that say their size, which is what a GPU restores block by block; some percent larger. Default: false.
   */
  bgzf?: boolean;
}

/**
 * One gzip member, or the members of BGZF: what `hemstitch --backend reference --format gzip` (bgzf) writes of its standard input, to the byte.
 * The first call of these functions loads gzip.js, which lies beside this module.
 */
export function compressGzip(
  bytes: Uint8Array | ArrayBuffer,
  options?: GzipCompressionOptions & {onProgress?: (progress: Progress) => void},
): Promise<Uint8Array>;

/**
 * The content of gzip members, one after the other, from any tool. The blocks of BGZF are restored on the device; an ordinary member does not
 * say where its parts begin, so the module's WebAssembly restores it, piece by piece on the calling thread. Damage is told with its place.
 */
export function decompressGzip(
  bytes: Uint8Array | ArrayBuffer,
  options?: RestoringOptions & {onProgress?: (progress: Progress) => void},
): Promise<Uint8Array>;

/** `readable.pipeThrough(new GzipCompressionStream())`. Holds a batch at most, of 1 MB or more; of BGZF as little as `batchBytes` says. */
export class GzipCompressionStream implements GenericTransformStream {
  constructor(options?: GzipCompressionOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** The way back. Content comes before an error that is met behind it, batch by batch. */
export class GzipDecompressionStream implements GenericTransformStream {
  constructor(options?: RestoringOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

// ---- Zstandard ----

/**
 * The content of Zstandard frames and skippable ones, one after the other, from any tool; not those that need a dictionary or a window of more than 128 MB.
 * The module's own WebAssembly restores it on the calling thread, with WebGPU or without, so `device` makes no difference: call it in a worker. Damage is told
 * with its place. The first call loads cpu.js, which lies beside this module.
 */
export function decompressZstd(
  bytes: Uint8Array | ArrayBuffer,
  options?: RestoringOptions & {onProgress?: (progress: Progress) => void},
): Promise<Uint8Array>;

/** `readable.pipeThrough(new ZstdDecompressionStream())`. Content comes before an error that is met behind it, batch by batch. */
export class ZstdDecompressionStream implements GenericTransformStream {
  constructor(options?: RestoringOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

// ---- Matches ----

export interface LZSSMatcherParams {
  /** Bytes, 3 and more. Default: 5. */
  minMatchLength?: number;
  /** Bytes, up to 65535. Default: 258. */
  maxMatchLength?: number;
  /** Offsets, up to 65535: of a band (`coop_stitch`, 256), else the largest one. */
  windowSize?: number;
  /** Offsets from the band of one position to that of the next. Default: 64. */
  stride?: number;
  /** Offsets that are tried from every position. Default: 64. */
  nearRange?: number;
  /** Matches that a position shows to the other 63: 1 to 16. Default: 4. */
  topK?: number;
  /** Bits, 1 to 25 for the optimal parse. Default: 9. */
  literalCost?: number;
  /** Bits. Default: 25. */
  matchFixedCost?: number;

  // Beyond document 000; include/hemstitch/match.hpp describes each, and which finder reads it.
  /** Default: "coop_stitch". */
  finder?: 'lazy_scan' | 'coop_stitch' | 'window_index' | 'hash_chain';
  /** Default: "optimal". */
  parse?: 'greedy' | 'lazy' | 'optimal';
  /** Default: true. */
  stitch?: boolean;
  /** Of a band cut into topK parts the best match of each, instead of the topK best ones. Default: false. */
  topKPerBucket?: boolean;
  bandOrigin?: number;
  goodMatchLength?: number;
  farStep?: number;
  hashBits?: number;
  capBytes?: number;
  depth?: number;
  stitchReach?: number;
  hashBytes?: number;
  fewValuesHashBytes?: number;
  /**
   * Bytes that are worked on at once, each such block with the 64 KB before it; no match crosses its end. Default: 1 MB, or less where
   * the device's maxStorageBufferBindingSize does not allow it.
   */
  blockSize?: number;
  /** Measures each pass: see LZSSMatcher.passes. Default: false. */
  measurePasses?: boolean;
}

export interface MatchResult {
  /** From 0. */
  position: number;
  /** Bytes back, 1 to 65535. */
  offset: number;
  length: number;
}

export interface FindOptions {
  signal?: AbortSignal;
  onProgress?: (progress: {inputBytes: number; totalBytes: number}) => void;
}

export interface ParseFigures {
  /** literalCost a literal, matchFixedCost a match, chosen by a perfect parse. */
  costBits: number;
  matchedBytes: number;
  matches: number;
  literals: number;
}

/** The criteria of document 000, but for the latency. */
export interface Evaluation {
  /** Every candidate stands for equal bytes. */
  verified: boolean;
  found: ParseFigures;
  /** The same finder's candidates before its stitch; of `coop_stitch` alone. */
  withoutStitch?: ParseFigures;
  /** What every offset up to 4096 would have given, by the processor. */
  optimum: ParseFigures;
  /** Pairs of positions, and bytes, that were compared; not of hash finders. */
  probes?: number;
  byteComparisons?: number;
}

export class LZSSMatcher {
  constructor(device: GPUDevice, params?: LZSSMatcherParams);
  /** Checks the parameters and compiles what they need. Calls begin with it where it was not called. */
  initialize(): Promise<void>;
  /** The chosen matches by position, none overlapping another; the bytes between them are literals. */
  findMatches(input: Uint8Array | ArrayBuffer, options?: FindOptions): Promise<MatchResult[]>;
  /** The same as three words each: position, offset, length. */
  findMatchWords(input: Uint8Array | ArrayBuffer, options?: FindOptions): Promise<Uint32Array>;
  /** Judges the finder; several times as much work. The input is one block. */
  evaluate(input: Uint8Array | ArrayBuffer): Promise<Evaluation>;
  /** How long each pass of the last call took; null where the device has no feature "timestamp-query". With measurePasses. */
  readonly passes: {name: string; milliseconds: number | null}[];
  /** Frees all buffers; calls that are under way are rejected. The device stays. */
  destroy(): void;
}
