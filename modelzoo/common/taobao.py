"""The Taobao display-ads text format, joined to one row per impression.

A row is `clk, buy`, 17 texts of the ad and the user, two of which are "|"-separated lists of what the user looked at before, and
a price level. Any field but the labels may be empty. Files are comma or tab separated.
"""

from common.text_format import Format, label, number, text

CLICK, BUY = "clk", "buy"
LABELS = (CLICK, BUY)
ITEM = ("pid", "adgroup_id", "cate_id", "campaign_id", "customer", "brand")
USER = (
    "user_id",
    "cms_segid",
    "cms_group_id",
    "final_gender_code",
    "age_level",
    "pvalue_level",
    "shopping_level",
    "occupation",
    "new_user_class_level",
)
TAGS = ("tag_category_list", "tag_brand_list")
PRICE = "price"
TAG_SEPARATOR = "|"

FORMAT = Format(
    name="Taobao",
    columns=(
        *map(label, LABELS),
        *map(text, ITEM + USER),
        *(text(name, missing="") for name in TAGS),
        number(PRICE),
    ),
    delimiters=(",", "\t"),
    layout=",".join((*LABELS, *ITEM, *USER, *TAGS, PRICE)),
    files=("taobao_train_data", "taobao_test_data"),
)

# Hash buckets of the published models.
BUCKETS = {
    **dict.fromkeys(("adgroup_id", "campaign_id", "customer", "brand", "user_id", *TAGS), 100_000),
    "cate_id": 10_000,
    **dict.fromkeys(("cms_segid", "cms_group_id"), 100),
    **dict.fromkeys(("pid", *USER[3:]), 10),
}
PRICE_LEVELS = 50
