package dev.parley.bench;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/// The limit of open files, which also limits connections.
final class OpenFiles {

  private static final int SPARE = 500;

  private OpenFiles() {}

  static boolean enoughFor(long connections) {
    return connections + SPARE <= max();
  }

  static long max() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
