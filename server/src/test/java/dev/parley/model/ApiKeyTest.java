package dev.parley.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.ModelSettings.ApiKey;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiKeyTest {

  @ParameterizedTest
  @CsvSource({
    "x, any text, any text",
    "x, the key x is wrong, the key *** is wrong",
    "x, 'Bearer x', 'Bearer ***'",
    "x, key=\"x\", key=\"***\"",
    "sk-1, mysk-1key, my***key",
  })
  void a_key_is_hidden_and_words_that_contain_a_short_one_are_not_changed(
      String key, String text, String shown) {
    assertThat(new ApiKey(key).redact(text)).isEqualTo(shown);
  }
}
