/* The version of Hemstitch, for the preprocessor. The build reads it from here: this is the only place that
 * says it. */
#ifndef HEMSTITCH_VERSION_H
#define HEMSTITCH_VERSION_H

#define HEMSTITCH_VERSION_MAJOR 0
#define HEMSTITCH_VERSION_MINOR 1
#define HEMSTITCH_VERSION_PATCH 0
#define HEMSTITCH_VERSION_STRING "0.1.0"

#endif
