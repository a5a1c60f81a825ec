// The page: a file in, its .lz4, its .gz and a picture of its matches out; or a compressed file in, its content out. All of the work is hemstitch.js's.
import {compressGzip, compressLz4, decompressGzip, decompressLz4, decompressZstd, LZSSMatcher, requestDevice} from './hemstitch.js';

const $ = id => document.getElementById(id);

// How much of a file is looked at beyond compressing it. A software adapter is some hundred times slower than a laptop's GPU.
const kLooked = {hardware: {map: 1 << 20, finders: 256 << 10}, software: {map: 256 << 10, finders: 16 << 10}};

const kFinders = [
  ['coop_stitch', true], ['coop_stitch', false], ['hash_chain', true], ['hash_chain', false], ['lazy_scan', null],
  ['window_index', null],
];

let device, looked, running, shown;

// ---- Samples, made on the spot: always the same ----

function randomNumbers(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
}

const kSamples = {
  prose() {
    const random = randomNumbers(5);
    const words = ('the a of and to in that was his it with as had for her on at by which have or from this him but not be they one all ' +
                   'what said would river morning window letter harbour between carried nothing remembered towards evening').split(' ');
    let text = '';
    while (text.length < 65536) {
      const count = 5 + Math.floor(random() * 12);
      const sentence = Array.from({length: count}, () => words[Math.floor(random() ** 1.7 * words.length)]).join(' ');
      text += sentence[0].toUpperCase() + sentence.slice(1) + (random() < 0.15 ? '.\n\n' : '. ');
    }
    return new TextEncoder().encode(text.slice(0, 65536));
  },
  log() {
    const random = randomNumbers(6);
    const paths = ['/index.html', '/about', '/api/items?page=', '/static/site.css', '/login', '/search?q='];
    let text = '', second = 0;
    while (text.length < 65536) {
      second += Math.floor(random() * 4);
      const clock = new Date(second * 1000).toISOString().slice(11, 19);
      text += `10.0.${Math.floor(random() * 4)}.${Math.floor(random() * 256)} - - [${clock}] "GET ` +
          `${paths[Math.floor(random() * paths.length)]}${random() < 0.5 ? Math.floor(random() * 100) : ''} HTTP/1.1" ` +
          `${random() < 0.9 ? 200 : 404} ${Math.floor(random() * 9000)}\n`;
    }
    return new TextEncoder().encode(text.slice(0, 65536));
  },
  table() {
    const random = randomNumbers(7);
    const view = new DataView(new ArrayBuffer(65536));
    let level = 1000;
    for (let at = 0; at < 65536; at += 16) {
      level += Math.floor(random() * 9) - 4;
      view.setUint32(at, at / 16, true);
      view.setInt32(at + 4, level, true);
      view.setInt32(at + 8, Math.floor(random() * 3), true);
      view.setUint32(at + 12, 0xFFFF, true);
    }
    return new Uint8Array(view.buffer);
  },
};

// ---- Words and numbers ----

const number = value => value.toLocaleString('en');
function bytesText(bytes) {
  if (bytes < 1 << 20) return `${number(bytes)} bytes`;
  return `${(bytes / (1 << 20)).toFixed(1)} MB`;
}
const percent = part => `${(100 * part).toFixed(1)} %`;
const milliseconds = time => time < 100 ? `${time.toFixed(time < 10 ? 2 : 1)} ms` : `${number(Math.round(time))} ms`;
const stretch = (bytes, all) => bytes < all ? `the first ${bytesText(bytes)}` : 'all of it';

function row(cells) {
  const line = document.createElement('tr');
  cells.forEach((text, i) => {
    const cell = document.createElement(i === 0 ? 'th' : 'td');
    if (i === 0) cell.scope = 'row';
    cell.textContent = text;
    line.append(cell);
  });
  return line;
}

function describe(list, term, text) {
  const name = document.createElement('dt'), value = document.createElement('dd');
  name.textContent = term;
  value.textContent = text;
  list.append(name, value);
}

// ---- Pictures ----

// From near to far, on a scale of powers of two: one hue after the other, each darker than the one before.
function colour(offset) {
  const part = Math.log2(offset) / 16;
  const stops = [[250, 214, 75], [242, 140, 70], [214, 75, 106], [136, 50, 140], [52, 40, 120]];
  const at = Math.min(part * (stops.length - 1), stops.length - 1.001), from = stops[Math.floor(at)], to = stops[Math.floor(at) + 1];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (at % 1)));
}

// Of each place of the map the match that covers most of its first byte's neighbourhood, and how it is coloured.
function drawMap(words, size) {
  const canvas = $('map');
  const columns = Math.min(512, Math.max(32, Math.ceil(Math.sqrt(size * 3))));
  const rows = Math.max(1, Math.min(170, Math.ceil(size / columns)));
  const places = columns * rows, bytesOfPlace = Math.max(1, Math.ceil(size / places));
  canvas.width = columns;
  canvas.height = rows;
  // Narrow pages still show each place.
  canvas.style.aspectRatio = `${columns} / ${rows}`;
  const offsets = new Uint16Array(places), lengths = new Uint32Array(places);
  for (let i = 0; i < words.length; i += 3)
    for (let place = Math.floor(words[i] / bytesOfPlace); place * bytesOfPlace < words[i] + words[i + 2] && place < places; place++)
      if (words[i + 2] > lengths[place]) {
        lengths[place] = words[i + 2];
        offsets[place] = words[i + 1];
      }
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, rows);
  for (let place = 0; place < places; place++)
    if (lengths[place] > 0) image.data.set([...colour(offsets[place]), 255], 4 * place);
  context.putImageData(image, 0, 0);
  shown = {columns, places, bytesOfPlace, offsets, lengths, image, place: -1, size};
  canvas.setAttribute('aria-label', `Map of ${number(words.length / 3)} matches`);
}

// The place, and where its match is copied from.
function pointAt(place) {
  if (!shown || place < 0 || place >= shown.places || place * shown.bytesOfPlace >= shown.size) return;
  shown.place = place;
  const context = $('map').getContext('2d');
  context.putImageData(shown.image, 0, 0);
  const at = place * shown.bytesOfPlace, offset = shown.offsets[place];
  if (shown.lengths[place] === 0) {
    $('map-place').textContent = `Byte ${number(at)}: no match.`;
    return;
  }
  const source = Math.floor(Math.max(0, at - offset) / shown.bytesOfPlace);
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--ink');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(place % shown.columns + 0.5, Math.floor(place / shown.columns) + 0.5);
  context.lineTo(source % shown.columns + 0.5, Math.floor(source / shown.columns) + 0.5);
  context.stroke();
  $('map-place').textContent =
      `Near byte ${number(at)}: ${number(shown.lengths[place])} bytes are copied from ${number(offset)} bytes before.`;
}

function drawBars(id, values) {
  const counts = [];
  for (const value of values) {
    const bin = 31 - Math.clz32(value);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts.filter(Boolean));
  const bars = $(id);
  bars.replaceChildren();
  const first = counts.findIndex(Boolean);
  for (let bin = Math.max(0, first); bin < counts.length; bin++) {
    const what = document.createElement('span'), count = document.createElement('span'), meter = document.createElement('meter');
    what.className = 'what';
    what.textContent = bin === 0 ? '1' : `${number(2 ** bin)}..${number(2 ** (bin + 1) - 1)}`;
    meter.max = most;
    meter.value = counts[bin] ?? 0;
    count.className = 'count';
    count.textContent = number(counts[bin] ?? 0);
    meter.setAttribute('aria-label', what.textContent);
    bars.append(what, meter, count);
  }
}

function* everyThird(words, first) {
  for (let i = first; i < words.length; i += 3) yield words[i];
}

// ---- The work ----

function progress(text, part) {
  $('step').textContent = text;
  $('progress').value = part;
}

// Whatever a matcher does, its buffers go.
async function withMatcher(params, work) {
  const matcher = new LZSSMatcher(device, params);
  try {
    await matcher.initialize();
    return await work(matcher);
  } finally {
    matcher.destroy();
  }
}

// Has a link give these bytes under a name.
function offer(id, name, bytes) {
  const link = $(id);
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.hidden = false;
}

const becameText = (bytes, packed, time) => `${bytesText(packed.length)}, a ratio of ` +
    `${bytes.length > 0 ? (bytes.length / packed.length).toFixed(2) : '1'}, in ${milliseconds(time)}`;

// What a compressed file begins with, and what restores it.
const kCompressed = [
  [[0x04, 0x22, 0x4D, 0x18], decompressLz4], [[0x02, 0x21, 0x4C, 0x18], decompressLz4], [[0x1F, 0x8B], decompressGzip],
  [[0x28, 0xB5, 0x2F, 0xFD], decompressZstd],
];
const restorerOf = bytes => kCompressed.find(([first]) => first.every((byte, i) => bytes[i] === byte))?.[1];

// Without a device, too.
async function restore(name, bytes, signal, restorer) {
  $('result').hidden = $('restored').hidden = true;
  progress('Restoring', 0);
  const begin = performance.now();
  const content = await restorer(bytes, {
    signal, onProgress: ({inputBytes, totalBytes}) => progress('Restoring', inputBytes / Math.max(1, totalBytes)),
  });
  offer('download-restored', name.replace(/\.(lz4|gz|bgz)$/, '').replace(/\.tgz$/, '.tar') || 'restored', content);
  $('restored-sizes').textContent = `${name}: ${bytesText(bytes.length)} became ${bytesText(content.length)}, in ` +
      milliseconds(performance.now() - begin);
  $('restored').hidden = false;
}

async function show(name, bytes, signal) {
  $('restored').hidden = true;
  $('result').hidden = $('download-gz').hidden = $('gz').hidden = true;
  progress('Compressing', 0);
  const begin = performance.now();
  const frame = await compressLz4(bytes, {
    device, signal, level: Number($('level').value),
    onProgress: ({inputBytes, totalBytes}) => progress('Compressing', 0.4 * inputBytes / Math.max(1, totalBytes)),
  });
  const time = performance.now() - begin;
  offer('download', `${name}.lz4`, frame);
  $('name').textContent = name;
  $('sizes').textContent = `${bytesText(bytes.length)} became ${becameText(bytes, frame, time)}`;
  await showMap(bytes, signal);
  $('result').hidden = false;
  await addGzip(name, bytes, signal);
  if (bytes.length > 0) await compareFinders(bytes, signal);
}

// Behind the first result, which does not wait for it.
async function addGzip(name, bytes, signal) {
  progress('Compressing as .gz', 0.6);
  const begin = performance.now();
  const member = await compressGzip(bytes, {device, signal, level: Number($('level').value)});
  $('gz').textContent = `As .gz: ${becameText(bytes, member, performance.now() - begin)}`;
  $('gz').hidden = false;
  offer('download-gz', `${name}.gz`, member);
}

async function showMap(bytes, signal) {
  progress('Finding matches', 0.45);
  const part = bytes.subarray(0, looked.map);
  const finder = $('finder').value, stitch = $('stitch').checked;
  const [words, passes] = await withMatcher({finder, stitch, measurePasses: true}, async matcher => [
    await matcher.findMatchWords(part, {
      signal, onProgress: ({inputBytes, totalBytes}) => progress('Finding matches', 0.45 + 0.15 * inputBytes / totalBytes),
    }), matcher.passes]);
  drawMap(words, part.length);
  $('map-note').textContent = `${stretch(part.length, bytes.length)[0].toUpperCase() + stretch(part.length, bytes.length).slice(1)}, row by row: ` +
      `${number(words.length / 3)} matches of ${finder}${stitch ? '' : ' without its stitch'}, coloured by how far back they point.`;
  drawBars('offsets', everyThird(words, 1));
  drawBars('lengths', everyThird(words, 2));
  const table = $('passes').tBodies[0];
  table.replaceChildren();
  const sums = new Map();
  for (const pass of passes) sums.set(pass.name, pass.milliseconds === null ? null : (sums.get(pass.name) ?? 0) + pass.milliseconds);
  for (const [pass, time] of sums) table.append(row([pass, time === null ? 'not told' : milliseconds(time)]));
  $('passes-note').textContent = `For the map, with ${finder}.`;
}

async function compareFinders(bytes, signal) {
  const part = bytes.subarray(0, looked.finders);
  const table = $('finders').tBodies[0];
  table.replaceChildren();
  $('criteria').replaceChildren();
  $('criteria-note').textContent = `Of ${stretch(part.length, bytes.length)}, with the cheapest choice among them.`;
  const matchedBytes = new Map();
  $('finders-note').textContent =
      `Of ${stretch(part.length, bytes.length)}. The size counts 9 bits for a byte by itself and 25 for a match.`;
  for (const [i, [finder, stitch]] of kFinders.entries()) {
    const label = finder + (stitch === null ? '' : stitch ? ', stitch on' : ', stitch off');
    progress(`Trying ${label}`, 0.7 + 0.2 * i / kFinders.length);
    const [words, time] = await withMatcher({finder, stitch: stitch ?? true}, async matcher => {
      const begin = performance.now();
      return [await matcher.findMatchWords(part, {signal}), performance.now() - begin];
    });
    let matched = 0;
    for (const length of everyThird(words, 2)) matched += length;
    matchedBytes.set(finder + stitch, matched);
    const cost = (9 * (part.length - matched) + 25 * words.length / 3) / 8;
    table.append(row([label, number(words.length / 3), percent(matched / part.length), bytesText(Math.ceil(cost)),
                      (part.length / cost).toFixed(2), milliseconds(time)]));
  }
  for (const finder of new Set([$('finder').value, 'coop_stitch'])) {
    progress(`Judging ${finder}`, 0.92);
    signal.throwIfAborted();
    const [judged, latency] = await withMatcher({finder}, async matcher => {
      const result = await matcher.evaluate(part);
      const begin = performance.now();
      await matcher.findMatchWords(part, {signal});
      return [result, performance.now() - begin];
    });
    signal.throwIfAborted();
    showCriteria(finder, judged, latency, part.length, matchedBytes);
  }
}

function showCriteria(finder, judged, latency, bytes, matchedBytes) {
  const list = document.createElement('dl'), heading = document.createElement('h4');
  heading.textContent = finder;
  $('criteria').append(heading, list);
  describe(list, 'Every match stands for equal bytes', judged.verified ? `yes; ${number(judged.found.matches)} are chosen` : 'no');
  const above = judged.found.costBits / judged.optimum.costBits - 1;
  describe(list, 'Cost against the optimum of a 4K window, found by the processor',
           `${number(judged.found.costBits)} bits, ` + (above === 0 ? 'the same' :
               `${percent(Math.abs(above))} ${above > 0 ? 'above' : 'below'} its ${number(judged.optimum.costBits)}`));
  describe(list, 'Work a byte', judged.probes === undefined ? 'not counted by this finder' :
      `${(judged.probes / bytes).toFixed(1)} probes, ${(judged.byteComparisons / bytes).toFixed(1)} bytes compared`);
  describe(list, `Latency of ${bytesText(bytes)}, upload and reading back included`, milliseconds(latency));
  const on = matchedBytes.get(finder + true), off = matchedBytes.get(finder + false);
  describe(list, 'Matched bytes with the stitch on and off', on === undefined || off === undefined ? 'not compared for this finder' :
      `${number(on)} and ${number(off)}: ${off > 0 ? percent(on / off - 1) : 'all'} more with it`);
}

async function open() {
  if (device) return;
  device = await requestDevice();
  device.lost.then(() => { device = undefined; });
  const info = device.adapterInfo ?? {};
  looked = kLooked[info.isFallbackAdapter ? 'software' : 'hardware'];
  $('adapter').textContent = `WebGPU adapter: ${[info.vendor, info.architecture, info.description].filter(Boolean).join(' ') || 'not told'}` +
      (info.isFallbackAdapter ? ', in software: slow, and only some of the file is looked at' : '');
}

// One at a time: what runs is cancelled by what comes.
async function start(name, read) {
  running?.abort();
  const mine = running = new AbortController();
  $('problem').hidden = true;
  $('working').hidden = false;
  try {
    const bytes = await read();
    mine.signal.throwIfAborted();
    const restorer = restorerOf(bytes);
    if (restorer) {
      await restore(name, bytes, mine.signal, restorer);
    } else {
      await open();
      await show(name, bytes, mine.signal);
    }
  } catch (error) {
    if (mine === running && error.name !== 'AbortError') {
      $('problem').textContent = error.message;
      $('problem').hidden = false;
    }
  }
  if (mine === running) $('working').hidden = true;
}

let again;  // the same data once more

function take(name, read) {
  again = () => start(name, read);
  return again();
}

const takeFile = file => file && take(file.name, async () => new Uint8Array(await file.arrayBuffer()));

$('file').addEventListener('change', event => takeFile(event.target.files[0]));
for (const button of document.querySelectorAll('[data-sample]'))
  button.addEventListener('click', () => {
    $('file').value = '';
    take(`${button.dataset.sample}.sample`, async () => kSamples[button.dataset.sample]());
  });
for (const id of ['level', 'finder', 'stitch']) $(id).addEventListener('change', () => again?.());
$('cancel').addEventListener('click', () => {
  running?.abort();
  $('working').hidden = true;
});
for (const kind of ['dragover', 'drop', 'dragleave'])
  addEventListener(kind, event => {
    event.preventDefault();
    $('drop').classList.toggle('over', kind === 'dragover');
    if (kind === 'drop') {
      $('file').value = '';
      takeFile(event.dataTransfer.files[0]);
    }
  });

$('map').addEventListener('pointermove', event => {
  if (!shown) return;
  const box = $('map').getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * shown.columns);
  const line = Math.floor((event.clientY - box.top) / box.height * $('map').height);
  pointAt(line * shown.columns + Math.min(Math.max(0, column), shown.columns - 1));
});
$('map').addEventListener('keydown', event => {
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(shown?.columns ?? 0), ArrowDown: shown?.columns ?? 0}[event.key];
  if (step === undefined || !shown) return;
  event.preventDefault();
  pointAt(Math.max(0, shown.place + step));
});

const legend = $('legend').getContext('2d');
for (let x = 0; x < 256; x++) {
  legend.fillStyle = `rgb(${colour(2 ** (x / 16)).join()})`;
  legend.fillRect(x, 0, 1, 1);
}

// Shaders are compiled while the person chooses.
try {
  await open();
  await compressLz4(new Uint8Array(1), {device, level: 3});
  await withMatcher({finder: 'hash_chain'}, () => {});
  document.documentElement.dataset.ready = 'yes';
} catch (error) {
  $('missing').textContent = `Here files are restored and not compressed: ${error.message}.`;
  $('missing').hidden = false;
  for (const part of document.querySelectorAll('.samples, .choices')) part.inert = true;
}
