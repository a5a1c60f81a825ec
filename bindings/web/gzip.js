// The parts of gzip, which hemstitch.js loads when they are first asked for: import hemstitch.js, not this.
export const shaders = /*SHADERS*/ {};
export const planner = /*PLANNER*/ '';
