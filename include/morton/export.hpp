// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what users of the library see. Symbols are hidden by default, so a public class, function
/// or exception without it cannot be linked (or caught) from outside the shared library.
#if defined(__GNUC__)
#define MORTON_API __attribute__((visibility("default")))
#else
#define MORTON_API
#endif
