package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class AnswerValidatorTest {

  private static final class CollectingHandler extends Handler {
    final List<String> messages = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord line) {
      messages.add(line.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#"
      })
  void unknown_keywords_of_a_form_are_ignored_without_a_warning(String dialect) {
    // The library warns once for each keyword, so each case has its own.
    var keyword = "enumNames" + dialect.length();
    var collectingHandler = new CollectingHandler();
    var logger = Logger.getLogger("com.networknt.schema");
    logger.addHandler(collectingHandler);
    try {
      var asked = form(dialect, keyword);
      new AnswerValidator().check(asked, Json.object().put("size", "s"));

      assertThatThrownBy(
              () -> new AnswerValidator().check(asked, Json.object().put("size", "huge")))
          .isInstanceOf(Rejection.Invalid.class);
      assertThat(collectingHandler.messages).isEmpty();
    } finally {
      logger.removeHandler(collectingHandler);
    }
  }

  private static InputRequired form(String dialect, String keyword) {
    var schema = Json.object().put("type", "object");
    if (!dialect.isEmpty()) {
      schema.put("$schema", dialect);
    }
    ObjectNode size = schema.putObject("properties").putObject("size").put("type", "string");
    size.putArray("enum").add("s").add("m");
    size.putArray(keyword).add("Small").add("Medium");
    return new InputRequired(
        new InputId("i"), true, InputType.DATA, "Which size?", schema, null, null, null);
  }
}
