package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExampleTest {

  @TempDir Path classes;

  @Test
  void the_example_in_the_documentation_compiles() throws Exception {
    var source = Files.readAllLines(Path.of("src/main/java/dev/parley/client/ParleyClient.java"));
    var begin = source.indexOf("/// ```java");
    var end = source.indexOf("/// ```");
    var example =
        source.subList(begin + 1, end).stream()
            .map(line -> line.substring(4))
            .collect(Collectors.joining("\n"));

    assertThat(compile(example)).isEmpty();
  }

  private String compile(String example) {
    var program =
        """
        import dev.parley.client.*;
        import dev.parley.protocol.*;
        import dev.parley.protocol.ContentEvent.ContentDelta;
        import java.net.URI;

        class Example {
          void run() throws InterruptedException {
        %s
          }
        }
        """
            .formatted(example);
    var file =
        new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreErrors) {
            return program;
          }
        };
    var errors = new StringWriter();
    var options =
        List.of(
            "-d", classes.toString(), "-proc:none", "-cp", System.getProperty("java.class.path"));
    var _ =
        ToolProvider.getSystemJavaCompiler()
            .getTask(errors, null, null, options, null, List.of(file))
            .call();
    return errors.toString();
  }
}
