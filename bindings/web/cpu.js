// What restores where there is no WebGPU, and Zstandard everywhere, which hemstitch.js loads then: import hemstitch.js, not this.
const planner = /*PLANNER*/ '';
export const shaders = /*SHADERS*/ {};

// In the place of a device: nothing is left to execute.
const runner = {
  device: {limits: {maxComputeWorkgroupsPerDimension: 65535}},
  bindingBytes: 1 << 30,
  batchBytes: 1 << 20,
  execute() {},
};

export const parts = compiled => [runner, () => compiled(planner)];
