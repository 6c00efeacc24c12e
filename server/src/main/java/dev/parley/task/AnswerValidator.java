package dev.parley.task;

import com.networknt.schema.Error;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.OutputFormat;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.dialect.DefaultDialectRegistry;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.DialectRegistry;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.keyword.AnnotationKeyword;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Rejection;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Validates answers against their questions.
final class AnswerValidator {

  private static final int ERRORS_SHOWN = 5;

  /// Limits on how many schema keywords one check evaluates, and how deep: with references a small
  /// schema can be endless.
  private static final int KEYWORDS_MAX = 100_000;

  private static final int DEPTH_MAX = 1_000;

  /// The dialects, which accept unknown keywords such as `enumNames` as annotations. The library's
  /// own factory logs a warning for each of them and never forgets it.
  private static final DialectRegistry DIALECTS =
      new DefaultDialectRegistry(
          Stream.of(
                  Dialects.getDraft4(),
                  Dialects.getDraft6(),
                  Dialects.getDraft7(),
                  Dialects.getDraft201909(),
                  Dialects.getDraft202012())
              .map(
                  dialect ->
                      Dialect.builder(dialect)
                          .unknownKeywordFactory((keyword, _) -> new AnnotationKeyword(keyword))
                          .build())
              .toList());

  /// @throws Rejection.Invalid if the answer is not valid for the question
  void check(InputRequired asked, JsonNode value) {
    if (value.isNull() || value.isMissingNode()) {
      throw invalidAnswer("an answer needs a value");
    }
    if (isSkippedOrDeclined(asked, value)) {
      return;
    }
    if (asked.inputType() == InputType.CONFIRMATION) {
      checkConfirmation(value);
      checkEdited(asked, value);
    }
    var options = asked.options();
    if (options != null && !options.isEmpty() && !options.contains(value)) {
      throw invalidAnswer("the answer must be one of " + options);
    }
    checkSchema(asked.schema(), value, false);
  }

  /// True if the answer skips or declines the question. Approvals cannot be skipped or declined,
  /// only denied.
  private static boolean isSkippedOrDeclined(InputRequired asked, JsonNode value) {
    return (asked.inputType() != InputType.CONFIRMATION || asked.facts().live())
        && (DeclinedAnswer.skips(value) || DeclinedAnswer.declines(value));
  }

  /// The answer, with the defaults of missing fields if the question has a form.
  static JsonNode withDefaults(InputRequired asked, JsonNode value) {
    if (asked.schema() == null
        || isSkippedOrDeclined(asked, value)
        || !(value instanceof ObjectNode form)) {
      return value;
    }
    var filled = form.deepCopy();
    asked
        .schema()
        .path("properties")
        .properties()
        .forEach(
            field -> {
              var usual = field.getValue().get("default");
              if (usual != null && !filled.has(field.getKey())) {
                filled.set(field.getKey(), usual);
              }
            });
    return filled;
  }

  private static void checkConfirmation(JsonNode value) {
    if (value.isBoolean()) {
      return;
    }
    if (!value.isObject() || !value.path("approved").isBoolean()) {
      throw invalidAnswer(
          "a confirmation must be true, false, or an object with a boolean \"approved\"");
    }
    if (value.has("reason") && !value.path("reason").isString()) {
      throw invalidAnswer("\"reason\" must be a string");
    }
    if (value.has("arguments") && !value.path("arguments").isObject()) {
      throw invalidAnswer("\"arguments\" must be an object");
    }
  }

  /// Checks edited arguments before they are stored, because invalid ones would use up the
  /// approval.
  private static void checkEdited(InputRequired asked, JsonNode value) {
    if (value.has("arguments")) {
      checkSchema(asked.facts().argumentsSchema().orElse(null), value.path("arguments"), true);
    }
  }

  private static void checkSchema(@Nullable JsonNode schema, JsonNode value, boolean strict) {
    if (schema == null || !(schema.isObject() || schema.isBoolean())) {
      return;
    }
    try {
      var errors =
          registry(strict)
              .getSchema(schema)
              .validate(new LimitedExecutionContext(), value, OutputFormat.DEFAULT);
      if (!errors.isEmpty()) {
        throw invalidAnswer(
            "the answer does not fit: "
                + errors.stream()
                    .limit(ERRORS_SHOWN)
                    .map(AnswerValidator::describe)
                    .collect(Collectors.joining("; ")));
      }
    } catch (SchemaException unusable) {
      // The question has an unusable schema, so any answer is accepted.
    }
  }

  /// The error's location, unless it is the whole answer, and its message.
  private static String describe(Error error) {
    var place = error.getInstanceLocation();
    return place == null || place.getNameCount() == 0 ? error.getMessage() : error.toString();
  }

  /// A registry for one check. It never fetches remote schemas: schemas come from models and
  /// servers that are not trusted.
  private static SchemaRegistry registry(boolean strict) {
    var config =
        SchemaRegistryConfig.builder().regularExpressionFactory(new SchemaPatterns(strict)).build();
    return SchemaRegistry.withDefaultDialect(
        SpecificationVersion.DRAFT_2020_12,
        builder ->
            builder
                .dialectRegistry(DIALECTS)
                .schemaRegistryConfig(config)
                .schemaCacheEnabled(false)
                .schemaLoader(loader -> loader.fetchRemoteResources(false)));
  }

  /// Ends a check that takes too many steps or goes too deep.
  private static final class LimitedExecutionContext extends ExecutionContext {
    private int keywords;
    private int depth;

    @Override
    public void evaluationPathAddLast(String keyword) {
      step();
      super.evaluationPathAddLast(keyword);
    }

    @Override
    public void evaluationPathAddLast(int index) {
      step();
      super.evaluationPathAddLast(index);
    }

    @Override
    public void evaluationPathRemoveLast() {
      depth--;
      super.evaluationPathRemoveLast();
    }

    private void step() {
      depth++;
      if (++keywords > KEYWORDS_MAX || depth > DEPTH_MAX) {
        throw invalidAnswer("the answer cannot be checked: its schema needs too many steps");
      }
    }
  }

  private static Rejection invalidAnswer(String message) {
    return new Rejection.Invalid("invalid-answer", message);
  }
}
