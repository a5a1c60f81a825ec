// What compresses and restores where there is no WebGPU, and restores Zstandard everywhere, which hemstitch.js loads then: import hemstitch.js, not this.
const planner = /*PLANNER*/ '';
export const shaders = /*SHADERS*/ {};

// In the place of a device: nothing is left to execute, but what the processor did has held up whatever else is to be done here.
const runner = {
  device: {limits: {maxComputeWorkgroupsPerDimension: 65535}},
  bindingBytes: 1 << 30,
  batchBytes: 1 << 20,
  execute: () => new Promise(resolve => setTimeout(resolve)),
};

export const parts = compiled => [runner, () => compiled(planner)];
