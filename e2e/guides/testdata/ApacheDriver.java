import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.http.NameValuePair;
import org.apache.http.client.config.*;
import org.apache.http.client.entity.UrlEncodedFormEntity;
import org.apache.http.client.methods.*;
import org.apache.http.client.utils.URLEncodedUtils;
import org.apache.http.impl.client.*;
import org.apache.http.message.BasicNameValuePair;
import org.apache.http.util.EntityUtils;

/** Sends by Apache HttpClient 4. Arguments: the address, and "UTF-8" or "default", the charset of forms. */
class ApacheDriver extends Driver {
    private final CloseableHttpClient http = HttpClients.createDefault();
    private final String url;
    private final boolean isDefault;

    ApacheDriver(String url, String charset) {
        this.url = url;
        isDefault = charset.equals("default");
    }

    @Override String send(String method, Map<String, String> form) throws Exception {
        List<NameValuePair> pairs = new ArrayList<NameValuePair>();
        for (Map.Entry<String, String> each : form.entrySet()) pairs.add(new BasicNameValuePair(each.getKey(), each.getValue()));
        HttpUriRequest request;
        if (method.equals("GET")) {
            request = new HttpGet(url + "?" + URLEncodedUtils.format(pairs, StandardCharsets.UTF_8));
        } else {
            HttpPost post = new HttpPost(url);
            post.setEntity(isDefault ? new UrlEncodedFormEntity(pairs) : new UrlEncodedFormEntity(pairs, StandardCharsets.UTF_8));
            request = post;
        }
        try (CloseableHttpResponse response = http.execute(request)) {
            return EntityUtils.toString(response.getEntity());
        }
    }

    public static void main(String[] args) throws Exception { new ApacheDriver(args[0], args[1]).run(); }
}
