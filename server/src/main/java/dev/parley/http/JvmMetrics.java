package dev.parley.http;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import jdk.management.VirtualThreadSchedulerMXBean;

/// The metrics of the Java process: memory, garbage collection, threads, files.
public final class JvmMetrics {

  private JvmMetrics() {}

  /// Adds them to `metrics`.
  public static void addTo(Metrics metrics, String version) {
    metrics.gauge(Metric.BUILD, () -> 1, version);
    var memory = ManagementFactory.getMemoryMXBean();
    metrics.gauge(Metric.HEAP_USED, () -> memory.getHeapMemoryUsage().getUsed(), "heap");
    metrics.gauge(Metric.HEAP_USED, () -> memory.getNonHeapMemoryUsage().getUsed(), "nonheap");
    metrics.gauge(Metric.HEAP_COMMITTED, () -> memory.getHeapMemoryUsage().getCommitted(), "heap");
    metrics.gauge(
        Metric.HEAP_COMMITTED, () -> memory.getNonHeapMemoryUsage().getCommitted(), "nonheap");
    metrics.gauge(Metric.HEAP_MAX, () -> max(memory.getHeapMemoryUsage()), "heap");
    for (var gc : ManagementFactory.getGarbageCollectorMXBeans()) {
      metrics.gauge(Metric.GC_COUNT, () -> Math.max(0, gc.getCollectionCount()), gc.getName());
      metrics.gauge(
          Metric.GC_SECONDS, () -> Math.max(0, gc.getCollectionTime()) / 1e3, gc.getName());
    }
    var threads = ManagementFactory.getThreadMXBean();
    metrics.gauge(Metric.JVM_THREADS, threads::getThreadCount);
    var scheduler = ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
    if (scheduler != null) {
      metrics.gauge(Metric.CARRIERS, scheduler::getPoolSize);
      metrics.gauge(Metric.CARRIERS_BUSY, scheduler::getMountedVirtualThreadCount);
      metrics.gauge(Metric.VIRTUAL_QUEUED, scheduler::getQueuedVirtualThreadCount);
    }
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
      metrics.gauge(Metric.CPU_SECONDS, () -> unix.getProcessCpuTime() / 1e9);
      metrics.gauge(Metric.OPEN_FILES, unix::getOpenFileDescriptorCount);
    }
    var start = ManagementFactory.getRuntimeMXBean().getStartTime() / 1e3;
    metrics.gauge(Metric.START_TIME, () -> start);
  }

  private static double max(MemoryUsage usage) {
    return usage.getMax() < 0 ? Double.NaN : usage.getMax();
  }
}
