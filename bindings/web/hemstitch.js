// Hemstitch: see hemstitch.d.ts.
//
// Nothing is decided here. A planner, C++ compiled to WebAssembly, says which shaders run over which buffers (job_text.hpp) and
// makes frames of what comes back; this file does that on a device, and is the door for callers. bindings/web/embed.py puts a
// planner and the shaders in place of the two marks below. Those of gzip are a file of their own, which its first call loads.

const kShaders = /*SHADERS*/ {};
const kPlanner = /*PLANNER*/ '';  // deflate-raw, base64

// Numbers of hemstitch.h.
const kInvalidOption = 100, kDeviceUnavailable = 500, kDeviceLost = 501, kDeviceOutOfMemory = 502, kDeviceFault = 503;

// What one submission works on: enough to fill the GPU of a laptop; a software adapter has nothing to fill.
const kHardwareBatchBytes = 8 << 20, kSoftwareBatchBytes = 1 << 20;
const kInputPieceBytes = 1 << 20;
const kMatchingBlockBytes = 1 << 20;  // what document 000 gives one dispatch
const kHistoryBytes = 65536;          // as far back as a match may point, and one byte
const kUniformBytes = 256;            // of a step, and the alignment of uniform buffers on every device

// What the shaders need of a device beyond what the smallest one that WebGPU allows has for sure.
const kNeededLimits = {
  maxStorageBuffersPerShaderStage: 8,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16384,
};

export class HemstitchError extends Error {
  constructor(message, status, options) {
    super(message, options);
    this.name = 'HemstitchError';
    this.status = status;
  }
}

// ---- The planner ----

async function compiled(planner) {
  const packed = Uint8Array.from(atob(planner), character => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

let mainModule, gzipModule;

function mainPlanner() {
  return mainModule ??= compiled(kPlanner);
}

function gzipPlanner() {
  return gzipModule ??= import('./gzip.js').then(parts => {
    Object.assign(kShaders, parts.shaders);
    return compiled(parts.planner);
  }).catch(error => {
    gzipModule = undefined;  // what could not be loaded now may come later
    throw error;
  });
}

// An instance for one call: an exception of C++ ends it, since nothing is unwound.
class Planner {
  static async open(runner, module) {
    const planner = new Planner();
    const imports = {
      env: {
        __cxa_allocate_exception: bytes => planner.call.allocate(bytes),
        __cxa_throw: (error, type) => {
          const status = planner.call.describeError(error, type);
          throw new HemstitchError(planner.text(), status);
        },
      },
    };
    planner.call = (await WebAssembly.instantiate(await module(), imports)).exports;
    planner.call._initialize();
    planner.call.setLimits(runner.bindingBytes, runner.device.limits.maxComputeWorkgroupsPerDimension);
    return planner;
  }

  // A view of the module's memory, until it grows: in the next call.
  bytes(place, length) {
    return new Uint8Array(this.call.memory.buffer, place, length);
  }
  text() {
    return new TextDecoder().decode(this.bytes(this.call.textPlace(), this.call.textBytes()));
  }
  output() {
    return this.bytes(this.call.outputPlace(), this.call.outputBytes()).slice();
  }
  // The length of a name that is put where the module reads names.
  name(name) {
    return new TextEncoder().encodeInto(name, this.bytes(this.call.namePlace(), 64)).written;
  }
}

// ---- The device ----

function describeLoss(info) {
  return new HemstitchError(
      `the device was lost (${info.reason}${info.message ? ': ' + info.message : ''}): request a new one and call again`,
      kDeviceLost);
}

// Buffers of one call at a time: made at the first job, replaced where a job needs larger ones.
class Slot {
  constructor() {
    this.buffers = [];
    this.uniform = this.download = null;
  }
  destroy() {
    for (const buffer of [...this.buffers, this.uniform, this.download]) buffer?.destroy();
    this.buffers = [];
    this.uniform = this.download = null;
  }
}

// Executes jobs on a device, which stays its owner's.
class Runner {
  constructor(device) {
    for (const [limit, needed] of Object.entries(kNeededLimits))
      if (!(device.limits[limit] >= needed))
        throw new HemstitchError(
            `the device's ${limit} is ${device.limits[limit]}, but the shaders need ${needed}: ` +
                'request a device with this limit, or use another adapter',
            kDeviceUnavailable);
    this.device = device;
    this.bindingBytes = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize, 0xFFFFFFFC);
    this.batchBytes = device.adapterInfo?.isFallbackAdapter ? kSoftwareBatchBytes : kHardwareBatchBytes;
    this.modules = new Map();
    this.pipelines = new Map();
    this.loss = null;
    device.lost.then(info => { this.loss = info; });
  }

  // Compiled once; a promise at first.
  pipeline(step) {
    const written = step.bindings.map(binding => binding && binding[1]);
    const key = JSON.stringify([step.shader, step.entryPoint, step.constants, written]);
    let made = this.pipelines.get(key);
    if (!made) {
      made = this.compile(step, `${step.shader}:${step.entryPoint}`);
      this.pipelines.set(key, made);
      made.catch(() => this.pipelines.delete(key));
    }
    return made;
  }

  async compile(step, label) {
    const {device} = this;
    if (!this.modules.has(step.shader))
      this.modules.set(step.shader, device.createShaderModule({label: step.shader, code: kShaders[step.shader]}));
    const visibility = GPUShaderStage.COMPUTE;
    const entries = [{binding: 0, visibility, buffer: {type: 'uniform'}}];
    step.bindings.forEach((binding, i) => {
      if (binding) entries.push({binding: i + 1, visibility, buffer: {type: binding[1] ? 'storage' : 'read-only-storage'}});
    });
    const bindGroupLayout = device.createBindGroupLayout({label, entries});
    const layout = device.createPipelineLayout({label, bindGroupLayouts: [bindGroupLayout]});
    const pipeline = await device.createComputePipelineAsync({
      label, layout,
      compute: {module: this.modules.get(step.shader), entryPoint: step.entryPoint, constants: step.constants},
    });
    return {bindGroupLayout, pipeline};
  }

  async compileAll(job) {
    try {
      return await Promise.all(job.steps.map(step => this.pipeline(step)));
    } catch (error) {
      throw await this.explained(error);
    }
  }

  // What was wrong, in our words.
  async explained(error) {
    if (error instanceof HemstitchError) return error;
    // A lost device tells so a moment after what was waited for on it has failed.
    this.loss ??= await Promise.race([this.device.lost, new Promise(resolve => setTimeout(resolve, 100, null))]);
    if (this.loss) return describeLoss(this.loss);
    return new HemstitchError(`the device reported an error: ${error.message ?? error}`, kDeviceFault, {cause: error});
  }

  // A buffer of `slot` that has at least so many bytes.
  grown(buffer, label, bytes, usage) {
    if (buffer && buffer.size >= bytes) return buffer;
    buffer?.destroy();
    return this.device.createBuffer({label, size: bytes, usage});
  }

  // Does what the planner's text says, between its memory and the device. With `times`, an array, says how long each step took.
  async execute(planner, slot, times) {
    const text = planner.text();
    if (!text) return;
    const job = JSON.parse(text);
    const pipelines = await this.compileAll(job);
    if (this.loss) throw describeLoss(this.loss);
    const {device} = this;
    const tooLarge = job.parts.find(bytes => bytes > this.bindingBytes);
    if (tooLarge)
      throw new HemstitchError(
          `a buffer of ${tooLarge} bytes is needed, but the device's maxStorageBufferBindingSize and maxBufferSize allow ` +
              `${this.bindingBytes}: request a device with higher limits, or use smaller blocks`,
          kInvalidOption);

    const stamped = times && device.features.has('timestamp-query') && job.steps.length > 0;
    const downloadBytes = job.downloads.reduce((sum, [, , bytes]) => sum + bytes, 0);
    const stampsAt = Math.ceil(downloadBytes / 8) * 8;
    const stampBytes = stamped ? 16 * job.steps.length : 0;
    let queries, resolved;

    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('validation');
    job.parts.forEach((bytes, i) => {
      slot.buffers[i] = this.grown(slot.buffers[i], `part ${i}`, bytes,
                                   GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST);
    });
    slot.uniform = this.grown(slot.uniform, 'parameters', kUniformBytes * Math.max(1, job.steps.length),
                              GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    slot.download = this.grown(slot.download, 'download', Math.max(8, stampsAt + stampBytes),
                               GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    const {memory} = planner.call;
    for (const [part, place, bytes, at] of job.uploads)
      if (bytes > 0) device.queue.writeBuffer(slot.buffers[part], at, memory.buffer, place, bytes);
    const parameters = new Uint32Array(kUniformBytes / 4 * job.steps.length);
    job.steps.forEach((step, i) => parameters.set(step.parameters, kUniformBytes / 4 * i));
    if (parameters.length > 0) device.queue.writeBuffer(slot.uniform, 0, parameters);
    if (stamped) {
      queries = device.createQuerySet({type: 'timestamp', count: 2 * job.steps.length});
      resolved = device.createBuffer({size: stampBytes, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC});
    }

    const encoder = device.createCommandEncoder();
    let pass = stamped ? null : encoder.beginComputePass();
    job.steps.forEach((step, i) => {
      if (stamped)
        pass = encoder.beginComputePass({
          timestampWrites: {querySet: queries, beginningOfPassWriteIndex: 2 * i, endOfPassWriteIndex: 2 * i + 1},
        });
      if (step.x > 0) {
        const {bindGroupLayout, pipeline} = pipelines[i];
        const entries =
            [{binding: 0, resource: {buffer: slot.uniform, offset: kUniformBytes * i, size: kUniformBytes}}];
        step.bindings.forEach((binding, n) => {
          if (binding)
            entries.push({binding: n + 1, resource: {buffer: slot.buffers[binding[0]], size: job.parts[binding[0]]}});
        });
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, device.createBindGroup({layout: bindGroupLayout, entries}));
        pass.dispatchWorkgroups(step.x, step.y);
      }
      if (stamped) pass.end();
    });
    if (!stamped) pass.end();
    let at = 0;
    for (const [part, , bytes] of job.downloads) {
      if (bytes > 0) encoder.copyBufferToBuffer(slot.buffers[part], 0, slot.download, at, bytes);
      at += bytes;
    }
    if (stamped) {
      encoder.resolveQuerySet(queries, 0, 2 * job.steps.length, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, slot.download, stampsAt, stampBytes);
    }
    device.queue.submit([encoder.finish()]);
    const invalid = device.popErrorScope(), outOfMemory = device.popErrorScope();
    const mapped = slot.download.mapAsync(GPUMapMode.READ, 0, Math.max(8, stampsAt + stampBytes));
    try {
      const results = await Promise.allSettled([outOfMemory, invalid, mapped]);
      if (results[0].value)
        throw new HemstitchError(`the device has no room for a batch: ${results[0].value.message}`, kDeviceOutOfMemory);
      if (results[1].value) throw results[1].value;
      for (const result of results) if (result.status === 'rejected') throw result.reason;
      const range = slot.download.getMappedRange(0, Math.max(8, stampsAt + stampBytes));
      at = 0;
      for (const [, place, bytes] of job.downloads) {
        planner.bytes(place, bytes).set(new Uint8Array(range, at, bytes));
        at += bytes;
      }
      if (times) {
        const stamps = stamped ? new BigUint64Array(range, stampsAt, 2 * job.steps.length) : null;
        job.steps.forEach((step, i) => {
          const nanoseconds = stamps ? Number(stamps[2 * i + 1] - stamps[2 * i]) : -1;
          times.push({
            name: `${step.shader.replace(/^.*\/|\.wgsl$/g, '')}:${step.entryPoint}`,
            milliseconds: nanoseconds >= 0 ? nanoseconds / 1e6 : null,
          });
        });
      }
      slot.download.unmap();
    } catch (error) {
      slot.destroy();  // what is mapped or half done is used by nobody else
      throw await this.explained(error);
    } finally {
      queries?.destroy();
      resolved?.destroy();
    }
  }
}

const runners = new WeakMap();

function runnerOf(device) {
  let runner = runners.get(device);
  if (!runner) runners.set(device, runner = new Runner(device));
  return runner;
}

let defaultDevice;

async function requestDefaultDevice() {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu)
    throw new HemstitchError(
        'WebGPU is missing: use a browser that has it, and load the page over https or from localhost',
        kDeviceUnavailable);
  const adapter = await gpu.requestAdapter({powerPreference: 'high-performance'});
  if (!adapter)
    throw new HemstitchError(
        'the browser provides no WebGPU adapter: update the graphics driver, or allow WebGPU in the browser\'s settings',
        kDeviceUnavailable);
  const features = adapter.features.has('timestamp-query') ? ['timestamp-query'] : [];
  const device = await adapter.requestDevice({label: 'hemstitch', requiredFeatures: features});
  device.lost.then(() => { defaultDevice = undefined; });
  return device;
}

async function runnerFor(options) {
  if (options.device) return runnerOf(options.device);
  defaultDevice ??= requestDefaultDevice().catch(error => {
    defaultDevice = undefined;
    throw error;
  });
  return runnerOf(await defaultDevice);
}

export async function requestDevice() {
  return (await runnerFor({})).device;
}

// ---- LZ4, gzip and Zstandard ----

function checkedBytes(bytes) {
  if (bytes instanceof Uint8Array) return bytes;
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  throw new TypeError('the bytes must be a Uint8Array or an ArrayBuffer');
}

// One frame that is written, or the frames of a stream that are read: write() what comes, then end(). `emit` is called with pieces of
// the result. close() in any case.
class FrameWork {
  static module = mainPlanner;

  static async open(options) {
    options.signal?.throwIfAborted();
    const work = new this();
    work.options = options;
    let {module} = this;
    try {
      if (module) work.runner = await runnerFor(options);
    } catch (error) {
      if (options.device) throw error;
      module = null;
    }
    if (!module) [work.runner, module] = (await import('./cpu.js')).parts(compiled);
    work.planner = await Planner.open(work.runner, module);
    work.slot = new Slot();
    work.begin(options.batchBytes ?? work.runner.batchBytes);
    return work;
  }
  async executeJob() {
    this.options.signal?.throwIfAborted();
    await this.runner.execute(this.planner, this.slot);
    this.options.signal?.throwIfAborted();
  }
  close() {
    this.slot.destroy();
  }
}

class Compression extends FrameWork {
  async write(bytes, emit) {
    const {call} = this.planner;
    for (let at = 0; at < bytes.length;) {
      const place = call.writerRoomPlace(), count = Math.min(bytes.length - at, call.writerRoomBytes());
      this.planner.bytes(place, count).set(bytes.subarray(at, at + count));
      call.writerFilled(count);
      at += count;
      await this.work(0, emit);
    }
  }
  async end(emit) {
    await this.work(1, emit);
    this.planner.call.finishWriter();
    this.take(emit);
  }
  async work(atEnd, emit) {
    while (this.planner.call.nextWriterJob(atEnd)) {
      await this.executeJob();
      this.planner.call.finishWriterJob();
      this.take(emit);
    }
  }
  take(emit) {
    this.planner.call.takeWriterOutput();
    emit(this.planner.output());
  }
}

class Lz4Compression extends Compression {
  begin(batchBytes) {
    const {level = 0, blockSize = 0, blockChecksums = true, contentChecksum = false, contentBytes = -1} = this.options;
    this.planner.call.beginLz4(level, blockSize, blockChecksums, contentChecksum, contentBytes, batchBytes);
  }
}

class GzipCompression extends Compression {
  static module = gzipPlanner;

  begin(batchBytes) {
    this.planner.call.beginGzip(this.options.bgzf ?? false, this.options.level ?? 0, batchBytes);
  }
}

class Restoring extends FrameWork {
  static kind = 0;

  begin(batchBytes) {
    this.planner.call.beginRestoring(this.options.verifyChecksums ?? true, batchBytes, this.constructor.kind);
  }
  async write(bytes, emit) {
    for (let at = 0; at < bytes.length; at += kInputPieceBytes) {
      const piece = bytes.subarray(at, at + kInputPieceBytes);
      const place = this.planner.call.readerRoom(piece.length);
      this.planner.bytes(place, piece.length).set(piece);
      await this.work(0, emit);
    }
  }
  end(emit) {
    return this.work(1, emit);
  }
  async work(atEnd, emit) {
    const kJob = 1;
    while (this.planner.call.nextReaderJob(atEnd) === kJob) {
      await this.executeJob();
      this.planner.call.finishReaderJob();
      emit(this.planner.output());
      // What the processor restored has held up whatever else is to be done here.
      await new Promise(resolve => setTimeout(resolve));
    }
  }
}

class GzipRestoring extends Restoring {
  static module = gzipPlanner;
  static kind = 1;
}

class ZstdRestoring extends Restoring {
  static module = null;
  static kind = 2;
}

async function allAtOnce(kind, bytes, options) {
  const work = await kind.open(options);
  const pieces = [];
  let inputBytes = 0, outputBytes = 0;
  const emit = piece => {
    pieces.push(piece);
    outputBytes += piece.length;
    options.onProgress?.({inputBytes, totalBytes: bytes.length, outputBytes});
  };
  try {
    for (; inputBytes < bytes.length;) {
      const piece = bytes.subarray(inputBytes, inputBytes + kInputPieceBytes);
      inputBytes += piece.length;
      await work.write(piece, emit);
    }
    await work.end(emit);
  } finally {
    work.close();
  }
  const all = new Uint8Array(outputBytes);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export async function compressLz4(bytes, options = {}) {
  const input = checkedBytes(bytes);
  // As the command-line tool has it: the frame of an empty file does not say its size.
  const contentBytes = input.length > 0 ? input.length : -1;
  return allAtOnce(Lz4Compression, input, {...options, contentBytes});
}

export async function decompressLz4(bytes, options = {}) {
  return allAtOnce(Restoring, checkedBytes(bytes), options);
}

export async function compressGzip(bytes, options = {}) {
  return allAtOnce(GzipCompression, checkedBytes(bytes), options);
}

export async function decompressGzip(bytes, options = {}) {
  return allAtOnce(GzipRestoring, checkedBytes(bytes), options);
}

export async function decompressZstd(bytes, options = {}) {
  return allAtOnce(ZstdRestoring, checkedBytes(bytes), options);
}

// A TransformStream that holds a batch at most.
function streamOf(kind, options) {
  let work;
  const guarded = async (controller, run) => {
    try {
      work ??= await kind.open(options);
      await run(piece => { if (piece.length > 0) controller.enqueue(piece); });
    } catch (error) {
      work?.close();
      throw error;
    }
  };
  return new TransformStream({
    transform: (bytes, controller) => guarded(controller, emit => work.write(checkedBytes(bytes), emit)),
    flush: controller => guarded(controller, async emit => {
      await work.end(emit);
      work.close();
    }),
    cancel: () => work?.close(),
  });
}

class FrameTransform {
  constructor(kind, options) {
    const {readable, writable} = streamOf(kind, options);
    this.readable = readable;
    this.writable = writable;
  }
}

export class Lz4CompressionStream extends FrameTransform {
  constructor(options = {}) { super(Lz4Compression, options); }
}

export class Lz4DecompressionStream extends FrameTransform {
  constructor(options = {}) { super(Restoring, options); }
}

export class GzipCompressionStream extends FrameTransform {
  constructor(options = {}) { super(GzipCompression, options); }
}

export class GzipDecompressionStream extends FrameTransform {
  constructor(options = {}) { super(GzipRestoring, options); }
}

export class ZstdDecompressionStream extends FrameTransform {
  constructor(options = {}) { super(ZstdRestoring, options); }
}

// ---- Matches ----

// Of the parameters, those that are not numbers of the finder.
const kOwnParameters = new Set(['finder', 'parse', 'blockSize', 'measurePasses']);

export class LZSSMatcher {
  #runner;
  #device;
  #params;
  #slots = new Set();  // idle ones, and those of calls
  #idle = [];
  #initialized;
  #destroyed = false;

  constructor(device, params = {}) {
    this.#device = device;
    this.#params = {...params};
    this.passes = [];
  }

  // Makes a planner with the parameters.
  async #planner() {
    const planner = await Planner.open(this.#runner, mainPlanner);
    const {call} = planner;
    const {finder = 'coop_stitch', parse = 'optimal'} = this.#params;
    call.beginMatching();
    call.setFinder(planner.name(finder));
    call.setParse(planner.name(parse));
    for (const [name, value] of Object.entries(this.#params)) {
      if (kOwnParameters.has(name) || value === undefined) continue;
      const number = Number(value);
      if (!Number.isInteger(number) || number < 0 || number > 0xFFFFFFFF)
        throw new HemstitchError(`${name} is ${value}, but must be a whole number`, kInvalidOption);
      call.setParameter(planner.name(name), number);
    }
    call.checkMatching();
    return planner;
  }

  initialize() {
    this.#initialized ??= this.#initialize().catch(error => {
      this.#initialized = undefined;
      throw error;
    });
    return this.#initialized;
  }

  async #initialize() {
    this.#refuseDestroyed();
    this.#runner = runnerOf(this.#device);
    const planner = await this.#planner();
    planner.call.finderRoom(1);
    planner.call.matchingJob(0, 0);
    await this.#runner.compileAll(JSON.parse(planner.text()));
  }

  #refuseDestroyed() {
    if (this.#destroyed) throw new HemstitchError('the matcher was destroyed: make a new one', kInvalidOption);
  }

  // Runs `work` with a planner and buffers of its own.
  async #call(work) {
    this.#refuseDestroyed();
    await this.initialize();
    const planner = await this.#planner();
    this.#refuseDestroyed();
    const slot = this.#idle.pop() ?? new Slot();
    this.#slots.add(slot);
    try {
      return await work(planner, slot);
    } catch (error) {
      slot.destroy();
      this.#refuseDestroyed();
      throw error;
    } finally {
      // One is kept for the next call.
      if (this.#destroyed || this.#idle.length > 0) {
        slot.destroy();
        this.#slots.delete(slot);
      } else {
        this.#idle.push(slot);
      }
    }
  }

  #blockBytes(planner) {
    const most = planner.call.mostBlockBytes() - kHistoryBytes;
    const {blockSize = Math.min(kMatchingBlockBytes, most)} = this.#params;
    if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > most)
      throw new HemstitchError(
          `blockSize is ${blockSize}, but must be 1 to ${most}, as the device's maxStorageBufferBindingSize and ` +
              'maxBufferSize allow',
          kInvalidOption);
    return blockSize;
  }

  async findMatchWords(input, {signal, onProgress} = {}) {
    const bytes = checkedBytes(input);
    if (bytes.length > 0xFFFFFFFF)
      throw new HemstitchError(`the input has ${bytes.length} bytes; at most 4294967295 are allowed`, kInvalidOption);
    return this.#call(async (planner, slot) => {
      const {call} = planner;
      const blockBytes = this.#blockBytes(planner);
      const lists = [];
      const passes = this.#params.measurePasses ? [] : undefined;
      let words = 0;
      for (let begin = 0; begin < bytes.length; begin += blockBytes) {
        signal?.throwIfAborted();
        const historyBytes = Math.min(begin, kHistoryBytes);
        const end = Math.min(begin + blockBytes, bytes.length);
        const block = bytes.subarray(begin - historyBytes, end);
        const place = call.finderRoom(block.length);
        planner.bytes(place, block.length).set(block);
        call.matchingJob(historyBytes, begin);
        await this.#runner.execute(planner, slot, passes);
        const list = call.takeMatches();
        lists.push(new Uint32Array(call.memory.buffer, list, call.matchWords()).slice());
        words += lists.at(-1).length;
        onProgress?.({inputBytes: end, totalBytes: bytes.length});
      }
      signal?.throwIfAborted();
      if (passes) this.passes = passes;
      const all = new Uint32Array(words);
      let at = 0;
      for (const list of lists) {
        all.set(list, at);
        at += list.length;
      }
      return all;
    });
  }

  async findMatches(input, options) {
    const words = await this.findMatchWords(input, options);
    const matches = [];
    for (let i = 0; i < words.length; i += 3)
      matches.push({position: words[i], offset: words[i + 1], length: words[i + 2]});
    return matches;
  }

  async evaluate(input) {
    const bytes = checkedBytes(input);
    return this.#call(async (planner, slot) => {
      const most = planner.call.mostBlockBytes();
      if (bytes.length < 1 || bytes.length > most)
        throw new HemstitchError(`the input has ${bytes.length} bytes; evaluate() takes 1 to ${most}`,
                                 kInvalidOption);
      const place = planner.call.finderRoom(bytes.length);
      planner.bytes(place, bytes.length).set(bytes);
      planner.call.judgingJob();
      await this.#runner.execute(planner, slot);
      planner.call.judgement();
      return JSON.parse(planner.text());
    });
  }

  destroy() {
    this.#destroyed = true;
    for (const slot of this.#slots) slot.destroy();
    this.#slots.clear();
    this.#idle = [];
  }
}
