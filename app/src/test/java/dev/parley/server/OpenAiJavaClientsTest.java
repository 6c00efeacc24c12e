package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The Java clients of OpenAI's API (openai-java, LangChain4j, Spring AI), unmodified. Maven builds
/// them in a project of their own, so that the server has none of their dependencies.
@Tag("long")
class OpenAiJavaClientsTest {

  @TempDir Path folder;

  @Test
  void the_java_clients_run_agents_as_models() throws Exception {
    var project = project();
    var classes = folder.resolve("classes");
    var classPath = folder.resolve("classpath");
    run(
        "mvn",
        "-B",
        "-q",
        "-f",
        project.resolve("pom.xml").toString(),
        "-Dparley.classes=" + classes,
        "compile",
        "dependency:build-classpath",
        "-Dmdep.outputFile=" + classPath);
    try (var testServer = TestServer.durable(folder.resolve("data"), TestServer.Wish.USUAL)) {
      run(
          Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "-cp",
          classes + File.pathSeparator + Files.readString(classPath).strip(),
          "JavaClients",
          testServer.url.toString());
    }
  }

  private void run(String... command) throws IOException, InterruptedException {
    var printed = folder.resolve("printed.txt");
    var builder = new ProcessBuilder(List.of(command)).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    var process = builder.redirectOutput(printed.toFile()).start();
    assertThat(process.waitFor()).as(() -> read(printed)).isZero();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      return failed.toString();
    }
  }

  private static Path project() {
    var given = System.getProperty("parley.peers");
    if (given != null) {
      return Path.of(given, "openai-java");
    }
    var above = Path.of("").toAbsolutePath();
    while (above.getParent() != null && !Files.isDirectory(above.resolve("peers"))) {
      above = above.getParent();
    }
    return above.resolve("peers").resolve("openai-java");
  }
}
