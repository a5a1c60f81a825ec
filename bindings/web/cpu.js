// What restores where there is no WebGPU, which hemstitch.js loads then: import hemstitch.js, not this.
export const planner = /*PLANNER*/ '';
// In the place of a device: nothing is left to execute.
export const runner = {
  device: {limits: {maxComputeWorkgroupsPerDimension: 65535}},
  bindingBytes: 1 << 30,
  batchBytes: 1 << 20,
  execute() {},
};
export const shaders = /*SHADERS*/ {};
