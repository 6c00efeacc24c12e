package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Makes a required thread of the real program fail.
///
/// The test attaches as a debugger and throws an error in the thread, as if memory were exhausted.
/// So the program needs no code for this test. The thread may also end with a later error that the
/// first one causes.
final class FatalIT {

  private static final String DEBUGGER =
      "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";
  private static final String LISTENING = "Listening for transport dt_socket at address: ";
  private static final String ERROR = "java.lang.OutOfMemoryError";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"parley-log-writer", "parley-log-waker"})
  void a_server_that_loses_a_core_thread_says_so_and_exits(String thread) throws Exception {
    var data = folder.resolve("data").toString();
    try (var logWitness = new LogWitness()) {
      try (var server =
          RealProcess.run(List.of(DEBUGGER), "serve", "--port", "0", "--data", data)) {
        var url = server.url();
        logWitness.send(url, logWitness.create(url), "hello");
        logWitness.awaitEnds(url);

        failThread(server, thread);

        assertThat(server.await()).isEqualTo(CommandExit.FAILED);
        assertThat(server.err())
            .filteredOn(line -> line.startsWith("parley: "))
            .singleElement()
            .asString()
            .contains("exiting because the thread " + thread + " failed: java.lang.");
      }
      try (var server = RealProcess.serve(Path.of(data))) {
        logWitness.holdTo(server.url());
      }
    }
  }

  /// Throws an error in a thread of the process.
  private static void failThread(RealProcess server, String name) throws Exception {
    var machine = attach(server);
    try {
      var thread =
          machine.allThreads().stream()
              .filter(each -> each.name().equals(name))
              .findFirst()
              .orElseThrow();
      // The JVM has preallocated instances of this error.
      var error = machine.classesByName(ERROR).getFirst().instances(1).getFirst();
      thread.stop(error);
      machine.dispose();
    } catch (VMDisconnectedException gone) {
      // The process has ended already.
    }
  }

  private static VirtualMachine attach(RealProcess server) throws Exception {
    var address =
        server.out().stream()
            .filter(line -> line.startsWith(LISTENING))
            .map(line -> line.substring(LISTENING.length()))
            .findFirst()
            .orElseThrow();
    var connector =
        Bootstrap.virtualMachineManager().attachingConnectors().stream()
            .filter(each -> each.transport().name().equals("dt_socket"))
            .map(AttachingConnector.class::cast)
            .findFirst()
            .orElseThrow();
    var arguments = connector.defaultArguments();
    arguments.get("hostname").setValue("127.0.0.1");
    arguments.get("port").setValue(address.replaceFirst(".*:", ""));
    return connector.attach(arguments);
  }
}
